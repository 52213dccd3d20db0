internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Signing in on a page with a passkey. The ceremony belongs to the browser that began it.
enum PasskeyLoginRoutes {
    static let table: [Route<RealmContext>] = [begin, finish]

    private static let begin = Route<RealmContext>(
        .post, "/login/passkey/begin", id: "beginPasskeyLogin", tag: "Pages",
        summary: "Starts a passkey sign-in on a page.", right: .nothing,
        voice: .native,
        answer: .ok("A challenge.", PasskeyOptions.begun, example: PasskeyOptions.exampleOfBegun),
        refusals: Page.refusals + [.passkeyUnavailable]
    ) { call throws(Problem) in
        guard let party = call.pageParty else { throw Problem(.passkeyUnavailable) }
        guard PageRequest(call).isSentFromHere else { throw Problem(.foreignForm) }
        try RateCounter(call).count(.passkeyBegin)
        return call.pageCeremony(party).begin(in: call.context) {
            PasskeyOptions.request(challenge: $0, party)
        }
    }

    private static let finish = Route<RealmContext>(
        .post, "/login/passkey", id: "loginByPasskey", tag: "Pages",
        summary: "Checks the passkey's signature.", right: .nothing, voice: .page,
        parameters: ReturnTarget.parameters,
        body: .page(
            ReturnTarget.members + [
                .optional("ceremony", .text(0...64), "Id of the WebAuthn ceremony."),
                .optional(
                    "assertion", .text(0...65_536),
                    "Result of `navigator.credentials.get`, as JSON."),
            ]),
        answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let returnTarget = ReturnTarget(call)
        guard let party = call.pageParty else { throw Problem(.noSuchRoute) }
        async let pause: Void = call.context.hesitate()
        let ceremony = call.pageCeremony(party)
        if let id = call.body["ceremony"]?.string.flatMap({ UUID($0) }),
            let text = call.body["assertion"]?.string, call.context.mint.isOurs(id, ceremony)
        {
            let challenge = call.context.mint.challenge(id, ceremony)
            let proof = try await PasskeyProofs(call).proof(text, challenge: challenge, party)
            let end = try await BrowserSignIns(call).signIn(
                PasskeyGrant(ceremony: id, proof: proof), by: .passkey, visit, to: returnTarget)
            if case .signedIn(let response) = end { return response }
        }
        var page = LoginPage(call, visit, returnTarget)
        page.notice = visit.say(
            "This passkey could not be used. Try again, or sign in by e-mail.",
            "Dieser Passkey ließ sich nicht verwenden. Versuchen Sie es noch einmal, oder melden Sie sich per E-Mail an."
        )
        await pause
        return page.response(.badRequest)
    }
}

extension Call<RealmContext> {
    /// For whom passkeys are asked for on our own pages.
    var pageParty: PasskeyParty? {
        let settings = context.place.settings
        guard settings.offers(.passkey), var party = PasskeyParty(settings, chosenBy: nil) else {
            return nil
        }
        if let parts = URLParts.parse(context.place.issuer), let host = parts.host {
            party.page = "\(parts.scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
        }
        return party
    }

    fileprivate func pageCeremony(_ party: PasskeyParty) -> Ceremony {
        Ceremony(
            kind: .page, client: PageVisit(self, nil).formName, account: nil,
            relyingParty: party.id)
    }
}
