internal import Cryptography
internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where an owner signs in with a browser.
enum OwnerLoginRoutes {
    static let pageTable: [Route<RealmContext>] = [show, login, askSecond, second]

    static let place = "/auth/login"
    private static let path = PathTemplate(stringLiteral: place)
    private static let refusals = Page.refusals + [.noSuchRoute, .invalidRequest]
    private static let redirect = Parameter(
        "redirect", in: .query, .text(0...8192), "Page to return to after the login.")

    private static let show = Route<RealmContext>(
        .get, path, id: "loginForInstallation", tag: "Flagship",
        summary: "Shows an owner the sign-in page.", right: .nothing, voice: .page,
        parameters: [redirect], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let target = RealmRedirect(call.text("redirect"), call.context.place)
        let (owner, passphrase) = try await call.owner()
        if let browser = visit.browser, browser.subject == owner.account {
            return try await call.handOver(browser, toPage: target) ?? .seeOther(target.target)
        }
        guard owner.isOnboarded else { return notYet(visit) }
        let page = OwnerLoginPage(
            visit: visit, place: call.context.place, rounds: passphrase.derived?.rounds,
            redirect: target, providers: try await RealmLookups(call.context).providerLabels())
        return page.response()
    }

    private static func notYet(_ visit: PageVisit) -> Response {
        let say = visit.say
        return visit.page(say("Not yet", "Noch nicht")) {
            Page.card {
                HTML.element(.h1) {
                    say(
                        "This space hasn't been set up yet",
                        "Dieser Bereich ist noch nicht eingerichtet")
                }
                HTML.element(.p) {
                    say(
                        "We e-mailed the owner a link to finish set-up.",
                        "Wir haben dem Inhaber einen Link zur Einrichtung geschickt.")
                }
                visit.form("/auth/onboarding/resend") {
                    Parts.button(say("Send the link again", "Link noch einmal senden"))
                }
            }
        }
    }

    private static let login = Route<RealmContext>(
        .post, path, id: "loginOwnerWithBrowser", tag: "Flagship",
        summary: "Signs an owner in by passphrase.", right: .nothing, voice: .page,
        body: .page(
            OwnerLinkRoutes.passphrase + [
                .optional("redirect", .text(0...8192), "Page to return to after the login."),
                .optional(
                    "long-run-session", .text(0...20),
                    "Whether the browser belongs to the owner: the session is long."),
                .optional(
                    "trusted-device-token", .text(0...128),
                    "Token of a trusted device, which needs no mailed code."),
                .optional(
                    "email_verified_code", .text(0...128),
                    "Single-use code in place of a mailed one."),
            ]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        try RateCounter(call).countRealm(.ownerSignIn)
        let target = RealmRedirect(call.body["redirect"]?.string, call.context.place)
        let rounds = try await call.owner().passphrase.derived?.rounds
        let hash = try await call.deviceHash(
            call.body.object ?? [:], rounds: rounds ?? OwnerPassphraseForm.usualRounds)
        let comparison = try await call.compareOwner(hash ?? "")
        let isLong = call.isOwnBrowser
        let proof = try await call.passphraseProof(comparison)
        let next = proof.next
        let end = try await BrowserSignIns(call).signIn(
            proof, by: .ownerPassphrase, visit, to: ReturnTarget(), isLong: isLong,
            place: target.target)
        switch end {
        case .signedIn(let response): return call.answerOfBrowser(response, to: target)
        case .refused(.secondFactorRequired):
            guard case .right(let kept) = comparison else { throw Problem(.internalError) }
            let token = try call.stepToken(next.id, kept, visit.formName)
            var pairs = [("two-factor-token", token), ("redirect", target.text)]
            if isLong { pairs.append(("long-run-session", "true")) }
            let place = "/auth/twofactor?" + Form.encode(pairs)
            if call.wantsJSON { return .json(.ok, ["redirect": .string(place)]) }
            return .seeOther(place)
        case .refused:
            let said = visit.say(
                "Wrong passphrase.", "Die Passphrase ist falsch.")
            if call.wantsJSON { return .json(.unauthorized, ["error": .string(said)]) }
            var page = OwnerLoginPage(
                visit: visit, place: call.context.place, rounds: rounds, redirect: target,
                providers: try await RealmLookups(call.context).providerLabels())
            page.wrong = said
            return page.response(.unauthorized)
        }
    }

    private static let token = Parameter(
        "two-factor-token", in: .query, .text(0...1024), "Token that proves the passphrase.")

    private static let askSecond = Route<RealmContext>(
        .get, "/auth/twofactor", id: "showOwnerSecondFactor", tag: "Flagship",
        summary: "Shows an owner the form for the mailed code.", right: .nothing, voice: .page,
        parameters: [
            token, redirect,
            Parameter(
                "long-run-session", in: .query, .text(0...20),
                "Whether the session is long, as in the first step."),
        ], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        page(
            try await PageRequest(call).visit(), call.text("two-factor-token") ?? "",
            RealmRedirect(call.text("redirect"), call.context.place),
            isLong: call.text("long-run-session") == "true", isWrong: false)
    }

    private static let second = Route<RealmContext>(
        .post, "/auth/twofactor", id: "loginOwnerBySecondFactor", tag: "Flagship",
        summary: "Checks the mailed code after a passphrase.", right: .nothing, voice: .page,
        body: .page([
            .optional("two-factor-token", .text(0...1024), "Token that proves the passphrase."),
            .optional("two-factor-passcode", .text(0...64), "Code from the mail."),
            .optional("redirect", .text(0...8192), "Page to return to after the login."),
            .optional(
                "long-run-session", .text(0...20),
                "Whether the browser belongs to the owner: the session is long."),
            .optional(
                "two-factor-generate-trusted-device-token", .text(0...20),
                "Whether the device becomes a trusted device, which needs no mailed code "
                    + "for a while."),
        ]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        try RateCounter(call).countRealm(.ownerSignIn)
        let target = RealmRedirect(call.body["redirect"]?.string, call.context.place)
        let token = call.body["two-factor-token"]?.string ?? ""
        let (owner, passphrase) = try await call.owner()
        guard let kept = passphrase.hash, let code = call.readStepToken(token, kept, visit.formName)
        else {
            return .seeOther("/auth/login?" + Form.encode([("redirect", target.text)]))
        }
        let stream = MailedCode.stream(of: owner.account ?? .zero, .secondFactor)
        let digits = trimmed(call.body["two-factor-passcode"]?.string ?? "")
        guard let digest = call.context.mint.digest(ofMailedCode: digits, in: stream) else {
            throw Problem(.internalError)
        }
        var proof = OwnerPassphraseProof(
            comparison: .right(hash: kept),
            typed: TypedMailedCode(
                id: code,
                shown: call.context.mint.shown { $0.digest(ofMailedCode: digits, in: stream) }),
            next: (call.context.newID(), digest))
        proof.trusting = call.isTrusting ? call.context.newID() : nil
        let end = try await BrowserSignIns(call).signIn(
            proof, by: .ownerPassphrase, visit, to: ReturnTarget(), isLong: call.isOwnBrowser,
            place: target.target)
        guard case .signedIn(let response) = end else {
            if call.wantsJSON {
                return .json(
                    .forbidden,
                    [
                        "error": .string(
                            visit.say("Wrong code.", "Der Code ist falsch."))
                    ])
            }
            return page(visit, token, target, isLong: call.isOwnBrowser, isWrong: true)
        }
        let trust = proof.trusting.map { call.context.mint.trustToken($0, kept) }
        return call.answerOfBrowser(response, to: target, trust: trust)
    }

    private static func page(
        _ visit: PageVisit, _ token: String, _ redirect: RealmRedirect, isLong: Bool, isWrong: Bool
    ) -> Response {
        let say = visit.say
        var page = OwnerCodePage(visit: visit, action: "/auth/twofactor", isWrong: isWrong)
        page.check = OwnerCheck.html(
            "two-factor-generate-trusted-device-token",
            say("Don't ask for a code here for 30 days", "Hier 30 Tage lang keinen Code verlangen"))
        return page.response {
            Parts.hidden("two-factor-token", token)
            Parts.hidden("redirect", redirect.text)
            if isLong { Parts.hidden("long-run-session", "true") }
        }
    }
}

/// The page on which an owner signs in, with the sign-in methods that are open to them.
struct OwnerLoginPage {
    let visit: PageVisit
    let place: Place
    let rounds: Int64?
    let redirect: RealmRedirect
    let providers: [ProviderLabel]
    var wrong: String?

    func response(_ status: Status = .ok) -> Response {
        let say = visit.say
        var form = OwnerPassphraseForm(
            visit: visit, rounds: rounds ?? OwnerPassphraseForm.usualRounds, host: place.host,
            action: "/auth/login", button: say("Sign in", "Anmelden"), wrong: wrong)
        form.check = OwnerCheck.html(
            "long-run-session", say("Keep me signed in here", "Hier angemeldet bleiben"))
        let other = ReturnTarget(path: redirect.text).link("/login")
        return visit.page(
            say("Sign in", "Anmelden"), status: status, script: OwnerScript.path,
            leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("Sign in", "Anmelden") }
                form.html { Parts.hidden("redirect", redirect.text) }
                if place.settings[SettingCatalogue.ownerLinks] {
                    visit.form("/auth/magic_link") {
                        Parts.hidden("redirect", redirect.text)
                        Parts.button(
                            say("Send me a link", "Link per E-Mail senden"), look: "second")
                    }
                }
                Parts.providers(providers, isFirst: false, say) { provider in
                    "/oidc/start?"
                        + Form.encode([
                            ("provider", provider.slug), ("redirect", redirect.text),
                        ])
                }
                HTML.element(.div, .class("links")) {
                    Parts.link(
                        say("Forgot your passphrase?", "Passphrase vergessen?"),
                        to: "/auth/passphrase_reset")
                    Parts.link(
                        say("Other ways to sign in", "Andere Anmeldearten"), to: other)
                }
            }
        }
    }
}

extension Call<RealmContext> {
    /// Where an owner has to be signed in for a page of this site.
    func ownerSignsInFirst(_ page: String) -> Response {
        .ownerSignsInFirst(context.place.issuer + page)
    }
}

extension Response {
    /// The apps know this place, with the whole address of the page behind it: in a web view of theirs they
    /// go on to that page with a session code.
    static func ownerSignsInFirst(_ address: String, at host: String = "") -> Response {
        .seeOther(
            "\(host)\(OwnerLoginRoutes.place)?" + Form.encode([("redirect", address)]))
    }
}

extension Call<RealmContext> {
    /// The user says that the browser is their own.
    fileprivate var isOwnBrowser: Bool { Self.isSet(body["long-run-session"]) }

    fileprivate var isTrusting: Bool {
        Self.isSet(body["two-factor-generate-trusted-device-token"])
    }

    private static func isSet(_ value: JSON?) -> Bool {
        ["true", "1", "on"].contains(value?.string ?? "")
    }

    /// What was typed, with what may stand for a mailed code.
    fileprivate func passphraseProof(
        _ comparison: PassphraseProof.Comparison
    ) async throws(Problem) -> OwnerPassphraseProof {
        let members = body
        var trusted: UUID?
        if case .right(let kept) = comparison,
            let shown = members["trusted-device-token"]?.string
                ?? request.cookie(PageCookie.trust.rawValue)
        {
            trusted = context.mint.readTrustToken(shown, kept)
        }
        let (owner, account) = try await ownersAccount()
        let isKnown = owner.trusts(trusted, of: account, at: context.clock.now())
        let (_, next) = try await secondStep(of: members, after: isKnown ? .nothing : comparison)
        var proof = OwnerPassphraseProof(comparison: comparison, next: next)
        proof.vouched = vouched(members)
        proof.trusted = trusted
        return proof
    }

    /// Seconds to look into the mailbox.
    private static var patience: Int64 { MailedCode.lifetime }

    /// Shows that the passphrase was right that is kept now, typed in this very browser or app.
    func stepToken(_ code: UUID, _ kept: String, _ asker: String) throws(Problem) -> String {
        let until = context.clock.now().adding(seconds: Self.patience)
        let members: JSON = [
            "code": .string(code.description), "form": .string(asker),
            "kept": .string(Base64URL.encode(SHA256.hash(Array(kept.utf8)))),
            "until": .integer(until.seconds),
        ]
        guard let text = context.mint.seal(members, for: .ownerStep) else {
            throw Problem(.internalError)
        }
        return text
    }

    /// The mailed code that has to be typed beside it.
    func readStepToken(_ text: String, _ kept: String, _ asker: String) -> UUID? {
        guard let members = context.mint.unseal(text, for: .ownerStep),
            members["form"]?.string == asker,
            members["kept"]?.string == Base64URL.encode(SHA256.hash(Array(kept.utf8))),
            let until = members["until"]?.integer, context.clock.now().seconds < until
        else { return nil }
        return members["code"]?.string.flatMap { UUID($0) }
    }
}
