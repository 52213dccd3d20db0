internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// An owner who does not know their passphrase.
enum OwnerResetRoutes {
    static let pageTable: [Route<RealmContext>] = [show, request, choose, renew, hint]

    private static let path: PathTemplate = "/auth/passphrase_reset"
    private static let renewPath: PathTemplate = "/auth/passphrase_renew"
    private static let refusals = Page.refusals + [.noSuchRoute, .invalidRequest]
    /// Apps that show the page in a frame of theirs say so; ours has no button to hide.
    private static let back = Parameter(
        "hideBackButton", in: .query, .text(0...20),
        "Parameter of apps that is accepted and ignored.")

    private static let show = Route<RealmContext>(
        .get, path, id: "showOwnerReset", tag: "Flagship",
        summary: "Shows an owner the page for a forgotten passphrase.", right: .nothing,
        voice: .page, parameters: [back], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let say = visit.say
        return visit.page(say("Forgot your passphrase?", "Passphrase vergessen?")) {
            Page.card {
                HTML.element(.h1) { say("Forgot your passphrase?", "Passphrase vergessen?") }
                HTML.element(.p) {
                    say(
                        "We'll e-mail the owner a link to choose a new passphrase. Then all devices are signed out.",
                        "Wir senden dem Inhaber einen Link, um eine neue Passphrase zu wählen. Dann werden alle Geräte abgemeldet."
                    )
                }
                visit.form("/auth/passphrase_reset") {
                    Parts.button(say("Send me the link", "Link senden"))
                }
                HTML.element(.div, .class("links")) {
                    visit.form("/auth/hint") {
                        Parts.button(
                            say("Send me my hint first", "Erst den Hinweis senden"), look: "plain")
                    }
                    Parts.link(
                        say("Back to sign in", "Zurück zur Anmeldung"), to: "/auth/login")
                }
            }
        }
    }

    private static let request = Route<RealmContext>(
        .post, path, id: "requestOwnerReset", tag: "Flagship",
        summary: "Mails the owner a link to set another passphrase.", right: .nothing,
        voice: .page, body: .page([]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        try RateCounter(call).countRealm(.passwordReset)
        let refusal = try await Commands(call).attempt(
            RequestOwnerLink(
                .passphraseReset, link: call.context.newID(),
                base: "\(call.context.place.links)/auth/passphrase_renew?token=",
                now: call.context.clock.now()), as: .anonymous)
        // Whether there is an owner is no secret here, and still not told.
        if let refusal, refusal != .noOwner { throw refusal.problem }
        return OwnerNotice.mailed(visit)
    }

    private static let token = Parameter(
        "token", in: .query, .text(0...200), "Reset token from the mail.")

    private static let choose = Route<RealmContext>(
        .get, renewPath, id: "showOwnerRenewal", tag: "Flagship",
        summary: "Shows the form for another passphrase.", right: .nothing,
        voice: .page, parameters: [token, back], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let text = call.text("token") ?? ""
        guard try await PassphraseResets(call.context).link(text) != nil else {
            return OwnerNotice.linkOver(visit)
        }
        return page(call, visit, text, wrong: nil)
    }

    private static let renew = Route<RealmContext>(
        .post, renewPath, id: "renewOwnerPassphrase", tag: "Flagship",
        summary: "Sets another passphrase by the mailed link.", right: .nothing, voice: .page,
        body: .page(
            OwnerLinkRoutes.passphrase + [
                .optional("passphrase_reset_token", .text(0...200), "Reset token from the mail."),
                .optional("hint", .text(0...1000), "Hint for the passphrase."),
            ]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let text = call.body["passphrase_reset_token"]?.string ?? ""
        let found = try await PassphraseResets(call.context).link(text)
        if found == nil { try RateCounter(call).countRealm(.ownerSignIn) }
        guard let (link, _) = found else {
            return OwnerNotice.linkOver(visit)
        }
        let derived: DerivedPassphrase
        switch try await call.chosenPassphrase(call.body.object ?? [:], visit.say) {
        case .failure(let wrong): return page(call, visit, text, wrong: wrong.said)
        case .success(let chosen): derived = chosen
        }
        let refusal = try await Commands(call).attempt(
            ResetPassphrase(
                account: link.account, link: link.id, passphrase: .derived(derived),
                mail: call.context.newID(),
                now: call.context.clock.now()), as: .anonymous)
        switch refusal {
        case nil: return .seeOther("/auth/login")
        case .linkOver?: return OwnerNotice.linkOver(visit)
        case let refusal?: throw refusal.problem
        }
    }

    private static func page(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ token: String, wrong: String?
    ) -> Response {
        let say = visit.say
        let form = OwnerPassphraseForm(
            visit: visit, rounds: OwnerPassphraseForm.usualRounds, host: call.context.place.host,
            action: "/auth/passphrase_renew", button: say("Set passphrase", "Passphrase setzen"),
            isNew: true, wrong: wrong)
        return visit.page(
            say("New passphrase", "Neue Passphrase"), status: wrong == nil ? .ok : .badRequest,
            script: OwnerScript.path
        ) {
            Page.card {
                HTML.element(.h1) { say("Choose a passphrase", "Passphrase wählen") }
                HTML.element(.p) {
                    say(
                        "Afterwards every device has to sign in again.",
                        "Danach muss sich jedes Gerät neu anmelden.")
                }
                form.html { Parts.hidden("passphrase_reset_token", token) }
            }
        }
    }

    private static let hint = Route<RealmContext>(
        .post, "/auth/hint", id: "requestOwnerHint", tag: "Flagship",
        summary: "Mails the owner the hint to the passphrase.", right: .nothing,
        voice: .page, answer: .page, refusals: refusals
    ) { call throws(Problem) in
        try RateCounter(call).countRealm(.ownerHint)
        let refusal = try await Commands(call).attempt(
            RequestHint(mail: call.context.newID()), as: .anonymous)
        // Only the reader of the mails learns whether there is a hint.
        if let refusal, refusal != .noHint { throw refusal.problem }
        if call.wantsJSON { return .json(.ok, [:]) }
        return OwnerNotice.mailed(try await PageRequest(call).visit())
    }
}

extension ResetPassphrase.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notOffered: Problem(.noSuchRoute)
        case .linkOver: Problem(.invalidRequest, "The link has expired or has already been used.")
        }
    }
}

extension RequestHint.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .noHint: .said(.noSuchClient, "No hint")
        }
    }
}
