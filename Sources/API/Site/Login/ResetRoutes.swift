internal import Cryptography
internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Passphrase reset for a user who has the mailbox.
enum ResetRoutes {
    static let table: [Route<RealmContext>] = [show, request, choose, set, wellKnown]

    static let path = CodeAddress.Page.forgotten.rawValue
    private static let resetPath: PathTemplate = "/passphrase/reset"

    /// Where password managers lead people who want another one (W3C: A Well-Known URL for Changing
    /// Passwords).
    private static let wellKnown = Route<RealmContext>(
        .get, "/.well-known/change-password", id: "changePassword", tag: "Pages",
        summary: "Redirects to the page that changes a passphrase.", right: .nothing, voice: .page,
        answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        let settings = call.context.place.settings
        if let reset = settings.rules.passphraseReset { return .found(reset) }
        guard settings.offers(.passphrase) else { throw Problem(.noSuchRoute) }
        return .found("/account/security")
    }

    private static let show = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: path), id: "showReset", tag: "Pages",
        summary: "Shows the page for a forgotten passphrase.", right: .nothing,
        voice: .page, parameters: ReturnTarget.parameters + [CodeAddress.parameter], answer: .page,
        refusals: Place.refusals
    ) { call throws(Problem) in
        try call.requirePassphrases()
        let visit = try await PageRequest(call).visit()
        let typed = call.codeAddress(visit, at: .forgotten)?.email
        return page(visit, ReturnTarget(call), typed ?? "", wrong: nil)
    }

    private static let request = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "requestReset", tag: "Pages",
        summary: "Mails a link to set another passphrase.", right: .nothing,
        voice: .page, parameters: ReturnTarget.parameters,
        body: .page(
            ReturnTarget.members + [.optional("email", .text(0...320), "Mail address.")]),
        answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        try call.requirePassphrases()
        guard let address = PageRequest(call).typedAddress() else {
            return page(
                visit, returnTarget, trimmed(call.body["email"]?.string ?? ""),
                wrong: visit.say.wholeAddress)
        }
        async let pause: Void = call.context.hesitate()
        let mailbox = call.context.mint.mailbox(address)
        try RateCounter(call).count(.passwordReset, target: mailbox.description)
        var command = RequestPassphraseReset(
            app: call.context.place.app, mailbox: mailbox, link: call.context.newID(),
            base: "\(call.context.place.links)/passphrase/reset?token=",
            now: call.context.clock.now())
        command.returnPath = ReturnPath(returnTarget.link("/login"))
        // The outcome is not told, against account enumeration.
        _ = try await Commands(call).dispatch(command, as: .anonymous)
        await pause
        return CodePage.linkMailed(visit, returnTarget, address)
    }

    private static func page(
        _ visit: PageVisit, _ returnTarget: ReturnTarget, _ email: String, wrong: String?
    ) -> Response {
        let say = visit.say
        return visit.page(
            say("Forgot your passphrase?", "Passphrase vergessen?"),
            status: wrong == nil ? .ok : .badRequest
        ) {
            Page.card {
                HTML.element(.h1) { say("Forgot your passphrase?", "Passphrase vergessen?") }
                HTML.element(.p) {
                    say(
                        "We'll e-mail you a link to choose a new one. Then all devices are signed out.",
                        "Wir senden Ihnen einen Link, mit dem Sie eine neue wählen. Dann werden alle Geräte abgemeldet."
                    )
                }
                visit.form(returnTarget.link(path)) {
                    returnTarget.fields
                    Field(
                        name: "email", label: say("E-mail address", "E-Mail-Adresse"),
                        type: "email", value: email, autocomplete: "email", isFocused: true,
                        wrong: wrong
                    ).html
                    Parts.button(say("Send me the link", "Link senden"))
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(
                        say("Back to sign in", "Zurück zur Anmeldung"),
                        to: returnTarget.link("/login"))
                }
            }
        }
    }

    private static let choose = Route<RealmContext>(
        .get, resetPath, id: "showNewPassphrase", tag: "Pages",
        summary: "Shows the form for another passphrase.", right: .nothing,
        voice: .page,
        parameters: [Parameter("token", in: .query, .text(0...200), "Reset token from the mail.")],
        answer: .page, refusals: Place.refusals
    ) { call throws(Problem) in
        try call.requirePassphrases()
        let visit = try await PageRequest(call).visit()
        let token = call.text("token") ?? ""
        guard let (_, email) = try await PassphraseResets(call.context).link(token) else {
            return over(visit)
        }
        return choice(visit, token, email, wrong: nil)
    }

    private static let set = Route<RealmContext>(
        .post, resetPath, id: "resetPassphrase", tag: "Pages",
        summary: "Sets another passphrase by the mailed link.", right: .nothing, voice: .page,
        parameters: [Parameter("token", in: .query, .text(0...200), "Reset token from the mail.")],
        body: .page([
            .optional("token", .text(0...200), "Reset token from the mail."),
            .optional("passphrase", .text(0...1024), "New passphrase, as it was typed."),
        ]), answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        try call.requirePassphrases()
        let token = call.body["token"]?.string ?? ""
        guard let (link, email) = try await PassphraseResets(call.context).link(token) else {
            return over(visit)
        }
        let account = link.account
        try RateCounter(call).count(.twoFactor, target: account.description)
        let hash: String
        switch try await Passphrases(call).hash(
            ofNew: call.body["passphrase"]?.string ?? "", of: account)
        {
        case .failure(let fault):
            return choice(visit, token, email, wrong: fault.said(visit.say))
        case .success(let made): hash = made
        }
        let refusal = try await Commands(call).attempt(
            ResetPassphrase(
                account: account, link: link.id, passphrase: .typed(hash: hash),
                mail: call.context.newID(), now: call.context.clock.now()), as: .anonymous)
        switch refusal {
        // The user signs in with the new passphrase, and goes on with what they were sent here for.
        case nil: return .seeOther(try call.login(of: email, visit, link.returnPath))
        case .linkOver?: return over(visit)
        case .notOffered?: throw Problem(.noSuchRoute)
        }
    }

    private static func choice(
        _ visit: PageVisit, _ token: String, _ email: String?, wrong: String?
    ) -> Response {
        let say = visit.say
        return visit.page(
            say("New passphrase", "Neue Passphrase"), status: wrong == nil ? .ok : .badRequest
        ) {
            Page.card {
                HTML.element(.h1) { say("Choose a passphrase", "Passphrase wählen") }
                // What is wrong is shown at this address, which can be opened again.
                visit.form("\(resetPath)?\(Form.encode([("token", token)]))") {
                    Parts.hidden("token", token)
                    Parts.userName(email, say)
                    Field(
                        name: "passphrase", label: say("New passphrase", "Neue Passphrase"),
                        type: "password", autocomplete: "new-password", isFocused: true,
                        limit: Field.passphraseLimit,
                        hint: say(
                            "At least \(PassphraseRule.length.lowerBound) characters.",
                            "Mindestens \(PassphraseRule.length.lowerBound) Zeichen."),
                        wrong: wrong
                    ).html
                    Parts.button(say("Set passphrase", "Passphrase setzen"))
                }
            }
        }
    }

    private static func over(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say.linkExpired, visit.say.adviceOnExpiredLink, .badRequest,
            link: (visit.say("Send a new link", "Neuen Link senden"), path))
    }
}

extension Call<RealmContext> {
    /// The login, which says that there is another passphrase.
    fileprivate func login(
        of email: String?, _ visit: PageVisit, _ next: ReturnPath?
    ) throws(Problem) -> String {
        var settled = CodeAddress(email: email ?? "", page: .settled)
        settled.hasNewPassphrase = true
        let login = next?.text ?? "/login"
        let sealed = Form.encode([("to", try seal(settled, visit))])
        return login + (login.contains("?") ? "&" : "?") + sealed
    }

    fileprivate func requirePassphrases() throws(Problem) {
        guard context.place.settings.offers(.passphrase) else { throw Problem(.noSuchRoute) }
    }
}

extension RequestPassphraseReset.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notOffered: Problem(.noSuchRoute)
        }
    }
}
