internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// The tokens of tenants' apps: their keys, refreshing and ending them, and verifying one without a library.
enum VerifyTokenRoutes {
    static let table: [Route<RealmContext>] = [
        keys, identityKeys, refresh, refreshWithoutKey, end, verify,
    ]

    private static let keys = Route<RealmContext>(
        .get, "/api/v0/token/jwks", id: "getVerifyKeys", tag: "Verify",
        summary: "Lists the public keys that verify tenants' tokens, the active one first.",
        right: .nothing, voice: .verify,
        answer: .ok(
            "The keys.",
            .object(.required("keys", .list(of: .openObject, 1...32), "Public keys as JWKs.")),
            example: ["keys": [["kty": "EC", "crv": "P-256", "alg": "ES256"]]]),
        refusals: Place.refusals, traits: .forScripts
    ) { call throws(Problem) in
        let keys = try await reading { () throws(LogFailure) in
            try await call.context.keys.keys(of: call.context.place.realm)
        }
        guard let active = keys.active[.es256] else { throw Problem(.internalError) }
        var response = Response.json(.ok, TenantToken.keys(keys.set, active: active))
        // The first key keeps its name when another takes its place: a cached set would refuse new tokens.
        response.headers["Cache-Control"] = "no-cache"
        return response
    }

    private static let identityKeys = Route<RealmContext>(
        .get, "/api/v0/token/identity_keys", id: "getIdentityTokenKeys", tag: "Verify",
        summary: "Lists the public keys that verify the identity token of older clients.",
        right: .nothing, voice: .verify,
        answer: .ok(
            "The keys, that in use first.",
            .object(.required("keys", .list(of: .openObject, 1...32), "Public keys as JWKs.")),
            example: ["keys": [["kty": "OKP", "crv": "Ed25519"]]]),
        refusals: Place.refusals, traits: .forScripts
    ) { call throws(Problem) in
        let keys: [JSON] = call.context.mint.identityKeys.map { key in
            [
                "kty": "OKP", "crv": "Ed25519", "use": "sig",
                "x": .string(Base64URL.encode(key.bytes)),
            ]
        }
        return .json(.ok, ["keys": .array(keys)])
    }

    private static let refreshBody = Body(
        schema: .object(
            .optional("grant_type", .text(0...255), "Grant type; always refresh_token."),
            .optional(
                "refresh_token", .text(0...4096),
                "Refresh token, unless the browser has it as a cookie."
            )),
        example: ["grant_type": "refresh_token", "refresh_token": "1:urd_rt_…"])

    private static let refresh = Route<RealmContext>(
        .post, "/api/v0/token/{api_key}", id: "refreshVerifyToken", tag: "Verify",
        summary: "Refreshes the tokens of a tenant's app. The old refresh token is good no more.",
        right: .nothing, voice: .verify, parameters: [Tenant.pathKey, Tenant.key],
        body: refreshBody, answer: .ok("The tokens.", .openObject, example: [:]),
        refusals: Place.refusals + [.forbidden, .invalidGrant, .rateLimited],
        traits: .forTenantScripts
    ) { call throws(Problem) in
        let key = try call.required("api_key")
        if let header = call.request.headers[Tenant.keyHeader], header != key {
            throw Problem(.forbidden, "The API_KEY_ID is not that of the address.")
        }
        return try await call.refresh(try await call.tenant(key))
    }

    private static let refreshWithoutKey = Route<RealmContext>(
        .post, "/api/v0/token", id: "refreshVerifyTokenByHeader", tag: "Verify",
        summary: "Refreshes tokens, as older apps ask for it.", right: .nothing, voice: .verify,
        parameters: [Tenant.key], body: refreshBody,
        answer: .ok("The tokens.", .openObject, example: [:]),
        refusals: Place.refusals + [.forbidden, .invalidGrant, .rateLimited],
        traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.refresh(try await call.tenant(call.request.headers[Tenant.keyHeader]))
    }

    private static let ending: Body = {
        var body = Body(
            schema: .object(
                .optional(
                    "refresh_token", .text(0...4096),
                    "Refresh token, unless the browser has it as a cookie.")),
            example: ["refresh_token": "1:urd_rt_…"])
        body.mayBeMissing = true
        return body
    }()

    private static let end = Route<RealmContext>(
        .delete, "/api/v0/token/{api_key}", id: "endVerifyToken", tag: "Verify",
        summary: "Signs out: ends the session of the browser's refresh cookie, and removes it.",
        detail:
            """
            Without a cookie, that of the refresh token in the body, or else of the access token. A page that \
            shows none of them is signed out already.
            """,
        right: .nothing, voice: .verify, parameters: [Tenant.pathKey, Tenant.key],
        body: ending, answer: .ok("The session is ended.", .openObject, example: [:]),
        refusals: Place.refusals + [.forbidden, .invalidRequest], traits: .forTenantScripts
    ) { call throws(Problem) in
        let tenant = try await call.tenant(try call.required("api_key"))
        return try await call.answerTenant(tenant) { () throws(Problem) in
            if let session = try await call.sessionToEnd(tenant),
                let live = try await call.context.live(session),
                live.terms.client == tenant.client.id
            {
                // One that is not found is over.
                _ = try await Commands(call).attempt(
                    EndSession(session: session, reason: .revoked),
                    as: .client(tenant.apiKey))
            }
            var response = Response.json(.ok, [:])
            response.headers.append("Set-Cookie", RefreshCookie.removal(tenant))
            return response
        }
    }

    private static let verify = Route<RealmContext>(
        .post, "/verify", id: "verifyTenantToken", tag: "Verify",
        summary: "Says whether an access token of a tenant's app is good, and its session too.",
        detail: "Where an API key comes along, tokens of that tenant's apps alone are good.",
        right: .nothing, voice: .verify, parameters: [Tenant.key],
        body: Body(
            schema: .object(
                .optional(
                    "oauth_token", .anything, "OAuth tokens with the `access_token` to validate.")),
            example: ["oauth_token": ["access_token": "…"]]),
        answer: .ok(
            "Result of the validation.",
            .object(
                .required("success", .boolean, "Whether the access token is valid."),
                .optional("reason", .text(1...200), "Reason for which the access token is invalid.")
            ),
            example: ["success": true]),
        refusals: Place.refusals, traits: .forScripts
    ) { call throws(Problem) in
        let text = call.body["oauth_token"]?["access_token"]?.string ?? ""
        let known = try await call.tenantToken(text)
        // The worker of one tenant must not take what another tenant's app was given.
        let asked = call.request.headers[Tenant.keyHeader]
        guard let known, asked == nil || asked == known.session.terms.clientID else {
            return .json(.ok, ["success": false, "reason": "Error: Invalid JWT token"])
        }
        return .json(.ok, ["success": true])
    }
}

extension Call<RealmContext> {
    /// JS clients sign out for good where the text has "not valid" in it.
    private static var notGood: Problem {
        Problem(.invalidGrant, "The refresh token is not valid.")
    }

    /// The session that the request names. Nil: its cookie is of no session any more, or it is the request of a
    /// page whose cookie is gone.
    fileprivate func sessionToEnd(_ tenant: Tenant) async throws(Problem) -> UUID? {
        let cookie = request.cookie(RefreshCookie.name)
        if let text = cookie ?? body["refresh_token"]?.string,
            let token = VerifyTokens.read(text, context.mint)
        {
            return token.session
        }
        if cookie != nil { return nil }
        if let own = try await ownSession(tenant) { return own.session.id }
        // Scripts cannot see whether their browser has the cookie.
        let showsNothing =
            body["refresh_token"]?.string == nil && request.headers["Authorization"] == nil
        if request.headers["Origin"] != nil, showsNothing { return nil }
        throw Problem(
            .invalidRequest,
            "Nothing names a session: send its refresh_token, or its access token (Authorization: Bearer)."
        )
    }

    fileprivate func refresh(_ tenant: Tenant) async throws(Problem) -> Response {
        try await answerTenant(tenant) { () throws(Problem) in
            let cookie = request.cookie(RefreshCookie.name)
            let shown = (body["refresh_token"]?.string ?? cookie)
                .flatMap { VerifyTokens.read($0, context.mint) }
            try RateCounter(self).count(
                .oauthToken, heldBy: shown.map { "session \($0.session)" })
            if let type = body["grant_type"]?.string, type != GrantType.refreshToken.rawValue {
                throw Problem(.invalidRequest, "grant_type must be refresh_token.")
            }
            guard let token = shown else { throw Self.notGood }
            let grant = RefreshGrant(session: token.session, generation: token.generation)
            guard case .success(let granted) = try await redeemByName(grant, as: tenant),
                let account = granted.terms.account,
                let person = try await verifiedPerson(
                    account, for: tenant, scope: granted.terms.scope)
            else { throw Self.notGood }
            let tokens = try await VerifyTokens(context, tenant).answer(granted, of: person)
            var response = Response.json(.ok, tokens)
            if cookie != nil, let next = tokens["refresh_token"]?.string {
                response.headers.append(
                    "Set-Cookie", RefreshCookie.line(next, granted, tenant, context.clock.now()))
            }
            return response
        }
    }
}
