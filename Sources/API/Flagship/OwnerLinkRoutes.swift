internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Signing in by a link that is mailed to a realm's owner.
enum OwnerLinkRoutes {
    static let table: [Route<RealmContext>] = [redeem]
    static let pageTable: [Route<RealmContext>] = [request, open, second]

    static let path: PathTemplate = "/auth/magic_link"
    private static let refusals = Page.refusals + [.noSuchRoute]

    private static let request = Route<RealmContext>(
        .post, path, id: "requestOwnerLink", tag: "Flagship",
        summary: "Mails the owner a link to sign in by.", right: .nothing, voice: .page,
        answer: .page, refusals: refusals
    ) { call throws(Problem) in
        try RateCounter(call).countRealm(.ownerLink)
        let redirect = RealmRedirect(
            call.looseMembers()["redirect"]?.string, call.context.place)
        let refusal = try await Commands(call).attempt(
            RequestOwnerLink(
                .signIn, link: call.context.newID(),
                base: "\(call.context.place.links)/auth/magic_link?code=",
                returnPath: ReturnPath(redirect.text), now: call.context.clock.now()),
            as: .anonymous)
        if let refusal { throw refusal.problem }
        if call.wantsJSON { return .json(.ok, [:]) }
        return OwnerNotice.mailed(try await PageRequest(call).visit())
    }

    private static let open = Route<RealmContext>(
        .get, path, id: "openOwnerLink", tag: "Flagship",
        summary: "Shows the page that a mailed link leads to.",
        right: .nothing, voice: .page,
        parameters: [Parameter("code", in: .query, .text(0...128), "Code from the mail.")],
        answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        guard let (id, redirect) = try await call.ownerLink(call.text("code")) else {
            return try call.refuseLink(visit)
        }
        if try await call.owner().state.needsMailedCode {
            return try await page(call, visit, wrong: nil)
        }
        let end = try await BrowserSignIns(call).signIn(
            OwnerLinkProof(link: id), by: .ownerLink, visit, to: ReturnTarget(),
            place: redirect.target)
        guard case .signedIn(let response) = end else { return try call.refuseLink(visit) }
        return response
    }

    private static let second = Route<RealmContext>(
        .post, "/auth/magic_link/twofactor", id: "openOwnerLinkWithPassphrase", tag: "Flagship",
        summary: "Checks the passphrase after a mailed link.", right: .nothing, voice: .page,
        body: .page(passphrase + [.optional("code", .text(0...128), "Code from the mail.")]),
        answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        try RateCounter(call).countRealm(.ownerSignIn)
        guard let (id, redirect) = try await call.ownerLink(call.body["code"]?.string) else {
            return try call.refuseLink(visit)
        }
        let rounds = try await call.owner().passphrase.derived?.rounds ?? 0
        let hash = try await call.deviceHash(call.body.object ?? [:], rounds: rounds)
        let comparison = try await call.compareOwner(hash ?? "")
        let end = try await BrowserSignIns(call).signIn(
            OwnerLinkProof(link: id, comparison: comparison), by: .ownerLink, visit,
            to: ReturnTarget(),
            place: redirect.target)
        switch end {
        case .signedIn(let response): return call.answerOfBrowser(response, to: redirect)
        case .refused(.invalidLink): return try call.refuseLink(visit)
        case .refused:
            let said = visit.say(
                "Wrong passphrase.", "Die Passphrase ist falsch.")
            if call.wantsJSON { return .json(.unauthorized, ["error": .string(said)]) }
            return try await page(call, visit, wrong: said)
        }
    }

    static let passphrase: [Member] = [
        .optional("passphrase", .text(0...4096), "Passphrase, hashed on the device."),
        .optional(
            "typed", .text(0...1024), "Passphrase in plain text, if the device did not hash it."),
        .optional("salt", .text(0...400), "Salt of the hash, from the form."),
        .optional("iterations", .text(0...20), "Iterations of the hash, from the form."),
    ]

    private static func page(
        _ call: Call<RealmContext>, _ visit: PageVisit, wrong: String?
    ) async throws(Problem) -> Response {
        let say = visit.say
        let code = call.text("code") ?? call.body["code"]?.string ?? ""
        let form = OwnerPassphraseForm(
            visit: visit, rounds: try await call.owner().passphrase.derived?.rounds ?? 0,
            host: call.context.place.host, action: "/auth/magic_link/twofactor",
            button: say("Sign in", "Anmelden"), wrong: wrong)
        return visit.page(
            say("Sign in", "Anmelden"), status: wrong == nil ? .ok : .unauthorized,
            script: OwnerScript.path, leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("One more step", "Noch ein Schritt") }
                HTML.element(.p) {
                    say(
                        "Enter your passphrase as well.", "Geben Sie auch Ihre Passphrase ein.")
                }
                form.html { Parts.hidden("code", code) }
            }
        }
    }

    private static let redeem = Route<RealmContext>(
        .post, "/auth/magic_link/flagship", id: "loginOwnerByLink", tag: "Flagship",
        summary: "Signs an owner in with the app, by a mailed link.",
        detail: """
            Where a second factor is asked for, it is the passphrase as the device has hashed it: \
            the app comes back with both. An app that is not certified gets a session code and 202.
            """,
        right: .nothing, voice: .flagship,
        body: Body(
            schema: .openObject,
            example: ["magic_code": "…", "client_id": "…", "client_secret": "…"],
            maximumBytes: 16 * 1024),
        answer: .ok("Tokens.", .openObject, example: OwnerRoutes.tokens),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .rateLimited]
    ) { call throws(Problem) in
        // Where no links are mailed, each is invalid: the apps know no other error for it.
        guard call.context.place.settings[SettingCatalogue.ownerLinks] else {
            try RateCounter(call).countRealm(.ownerLinkCheck)
            throw OwnerRefusal.invalidMagicCode.problem
        }
        let link = try await call.ownerLink(call.body["magic_code"]?.string)?.id
        var comparison: PassphraseProof.Comparison?
        if link != nil, try await call.owner().state.needsMailedCode,
            let typed = call.body["passphrase"]?.string, !typed.isEmpty
        {
            try RateCounter(call).countRealm(.ownerSignIn)
            comparison = try await call.compareOwner(typed)
        }
        let outcome = try await Commands(call).dispatch(
            SignInOwnerByLink(
                link: link ?? .zero, comparison: comparison,
                request: call.ownerRequest(call.body)), as: .anonymous)
        if outcome == .refused(.invalidMagicCode) {
            try RateCounter(call).countRealm(.ownerLinkCheck)
        }
        return try call.ownerResponse(outcome)
    }
}

extension Call<RealmContext> {
    /// The link of this code, while it is good. A look does not use the link up.
    fileprivate func ownerLink(
        _ text: String?
    ) async throws(Problem) -> (id: UUID, redirect: RealmRedirect)? {
        guard let id = text.flatMap(context.mint.readMagicCode) else { return nil }
        let (owner, account) = try await ownersAccount()
        guard let owned = owner.account,
            let link = try await RealmLookups(context).folded(
                MailedLink.self, MailedLink.stream(of: owned, .signIn)
            ).link(id, of: account, at: context.clock.now())
        else { return nil }
        return (id, RealmRedirect(link.returnPath?.text, context.place))
    }
}

extension RequestOwnerLink.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notOffered, .noOwner: Problem(.noSuchRoute)
        }
    }
}
