internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where an app redeems the code that the page for tenants gave it.
enum ExchangeRoutes {
    static let table: [Route<RealmContext>] = [exchange]

    static let prefix = "/api/v0"

    private static let exchange = Route<RealmContext>(
        .post, "/api/v0/verify/get_identity", id: "getVerifiedIdentity", tag: "Verify",
        summary: "Redeems a code of the page for tenants.",
        detail: """
            The code is good once, for five minutes, with the verifier, the challenge's number and the \
            redirect URL that it was asked for with. Tokens are given where `oauth_token` is `true`, or \
            it is left out and the realm has `tokens_unasked`.
            """,
        right: .nothing, voice: .verify,
        parameters: [
            Tenant.key,
            Parameter(
                "oauth_token", in: .query, .text(0...10), "Whether the response has OAuth tokens."),
        ],
        body: Body(
            schema: .object(
                .optional("authorization_code", .text(0...16384), "Authorization code."),
                .optional(
                    "code_verifier", .text(0...1024),
                    "PKCE code verifier: 43 to 128 printable characters."),
                .optional(
                    "challenge_id", .anything, "Challenge id (an integer) that came with the code."),
                .optional("redirect_url", .text(0...2048), "Redirect URL of the code.")),
            example: [
                "authorization_code": "…", "code_verifier": "…", "challenge_id": 4711,
                "redirect_url": "http://localhost:8395",
            ]),
        answer: .ok("Whose address was proved.", .openObject, example: ["identifier": [:]]),
        refusals: Place.refusals + [.forbidden, .invalidGrant, .invalidRequest, .rateLimited],
        traits: .forTenantScripts
    ) { call throws(Problem) in
        let tenant = try await call.tenant(call.request.headers[Tenant.keyHeader])
        return try await call.answerTenant(tenant) { () throws(Problem) in
            let code = call.body["authorization_code"]?.string
            try RateCounter(call).count(
                .oauthToken, heldBy: call.context.mint.holder(ofCode: code))
            return try await call.exchange(tenant)
        }
    }
}

extension Call<RealmContext> {
    /// One text for every code that is not good, or not for this request: which it is tells a thief something.
    private static var notGood: Problem {
        Problem(.invalidGrant, "The authorization code is not valid, or was used.")
    }

    fileprivate func exchange(_ tenant: Tenant) async throws(Problem) -> Response {
        let began = ContinuousClock.now
        let number = body["challenge_id"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
        guard
            let code = body["authorization_code"]?.string
                .flatMap({ context.mint.readAuthorizationCode($0) })
        else { throw Self.notGood }
        let verifier = body["code_verifier"]?.string ?? ""
        let redirect = body["redirect_url"]?.string ?? ""
        // None of it hides that the code was redeemed before.
        let isRight =
            (43...128).contains(verifier.utf8.count)
            && verifier.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            && code.client == tenant.client.id && number == code.challengeNumber
        let grant = AuthorizationCodeGrant(
            code: code, consent: nil, redirect: SecretDigest.of(redirect),
            verifier: SecretDigest.of(verifier),
            methods: methodOwner(code.account, tenant).stream)
        let passkeys = context.queries.beginPasskeys(of: code.account, in: context.place.realm)
        let granted: GrantedTokens
        switch try await redeemByName(grant, as: tenant, isFaulty: !isRight) {
        case .success(let tokens): granted = tokens
        case .failure(.invalidAuthorizationCode("expired")):
            throw Problem(.invalidGrant, "Challenge Expired")
        case .failure: throw Self.notGood
        }
        guard
            let person = try await verifiedPerson(code.account, granted, passkeys, since: began)
        else { throw Self.notGood }
        return try await identity(of: person, granted, tenant, on: code.userAgent)
    }

    /// A tenant's app shows no secret: what it shows is bound to it in another way. A tenant that was disabled a
    /// moment ago may still be known here as it was before: the decision says so, in the words of everywhere.
    func redeemByName<Shown: Grant>(
        _ grant: Shown, as tenant: Tenant, isFaulty: Bool = false
    ) async throws(Problem) -> GrantOutcome {
        var request = GrantRequest(
            client: tenant.client.id, clientID: tenant.apiKey, proof: .none,
            app: context.place.app, session: context.newID(),
            from: context.signInPlace(of: self.request), now: context.clock.now(),
            issuer: context.place.issuer)
        request.isFaulty = isFaulty
        do throws(Problem) {
            return try await Commands(self).dispatch(
                RedeemGrant(grant, request), as: .client(tenant.apiKey))
        } catch {
            if error.kind == .invalidClient { throw Self.unknownKey }
            guard error.kind == .invalidGrant || isFaulty && error.kind == .invalidRequest else {
                throw error
            }
            return .failure(.unknownAuthorizationCode)
        }
    }

    private func identity(
        of person: VerifiedPerson, _ granted: GrantedTokens, _ tenant: Tenant,
        on userAgent: String?
    ) async throws(Problem) -> Response {
        let now = context.clock.now()
        let identifier = context.mint.mailbox(person.address).description
        let device =
            userAgent ?? granted.login?.from.device ?? granted.terms.from.device ?? ""
        let expiry = granted.login?.expiresAt ?? now
        var members: JSONObject = [
            "identifier": [
                "ID": .string(identifier), "created_at": .string(person.createdAt.description),
                "updated_at": .string(person.changedAt.description),
                "update_at": .string(person.changedAt.description),
                "deleted_at": .string(Timestamp.never), "identifier": .string(person.address),
                "identifier_type": .string(person.kind), "public_key": "",
                "device_type": "BROWSER", "device_name": .string(device),
                "expiry": .string(expiry.description), "timestamp": .string(now.description),
            ],
            "token": try IdentityToken.make(
                of: person, identifier: identifier, for: tenant.apiKey, by: context.mint, at: now),
            "user": person.user(of: tenant.apiKey),
        ]
        let wanted = text("oauth_token").map { $0 == "true" }
        guard wanted ?? context.place.settings[SettingCatalogue.tokensUnasked] else {
            return .json(.ok, .object(members))
        }
        return try await answerWithTokens(&members, with: granted, of: person, tenant)
    }

    /// The same with tokens. A page has its refresh token as a cookie as well.
    func answerWithTokens(
        _ members: inout JSONObject, with granted: GrantedTokens, of person: VerifiedPerson,
        _ tenant: Tenant
    ) async throws(Problem) -> Response {
        let tokens = try await VerifyTokens(context, tenant).answer(granted, of: person)
        members["oauth_token"] = tokens
        var response = Response.json(.ok, .object(members))
        if request.headers["Origin"] != nil, let text = tokens["refresh_token"]?.string {
            response.headers.append(
                "Set-Cookie", RefreshCookie.line(text, granted, tenant, context.clock.now()))
        }
        return response
    }
}
