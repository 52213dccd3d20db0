internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Claims that a tenant's server adds to the tokens of one of its sessions.
enum CustomClaimRoutes {
    static let table: [Route<RealmContext>] = [set]

    private static let set = Route<RealmContext>(
        .post, "/api/v0/token/custom", id: "setCustomClaims", tag: "Verify",
        summary: "Adds claims to an access token, and to those that follow by refreshing.",
        detail: """
            All of them are replaced. They stand in the token by their names, but for those that tokens have \
            anyway, and under `custom_attributes`.
            """,
        right: .nothing, voice: .verify, parameters: [Tenant.key, Tenant.secret],
        body: Body(
            schema: .object(
                .optional("token", .text(0...16384), "Valid access token."),
                .optional(
                    "custom_attributes", .openObject, "Custom claims of the new access token."),
                .optional(
                    "refresh_token", .text(0...4096),
                    "Refresh token, if it is to be renewed as well.")),
            example: ["token": "…", "custom_attributes": ["plan": "gold"]]),
        answer: .ok("The tokens.", .openObject, example: ["token": "…"]),
        refusals: Place.refusals + [.forbidden, .invalidGrant, .invalidRequest]
    ) { call throws(Problem) in
        let tenant = try await call.tenantServer()
        guard let claims = call.body["custom_attributes"]?.object else {
            throw Problem(.invalidRequest, "custom_attributes must be an object.")
        }
        return try await call.setClaims(claims, tenant)
    }
}

extension Call<RealmContext> {
    private static var notGood: Problem { Problem(.invalidGrant, "The token is not valid.") }
    private static var badRefresh: Problem {
        Problem(.invalidGrant, "The refresh token is not valid.")
    }

    fileprivate func setClaims(
        _ claims: JSONObject, _ tenant: Tenant
    ) async throws(Problem) -> Response {
        guard let known = try await tenantToken(body["token"]?.string ?? ""),
            known.session.terms.client == tenant.client.id,
            let account = known.session.terms.account,
            let person = try await verifiedPerson(
                account, for: tenant, scope: known.session.terms.scope)
        else { throw Self.notGood }
        // Nothing is set where the refresh token beside it is not good.
        let shown = body["refresh_token"]?.string
        let refresh = shown.flatMap { VerifyTokens.read($0, context.mint) }
        guard shown == nil || refresh?.session == known.session.id else { throw Self.badRefresh }
        let command = SetTokenClaims(
            session: known.session.id, client: tenant.client.id, claims: claims,
            now: context.clock.now())
        switch try await Commands(self).attempt(command, as: .client(tenant.apiKey)) {
        case nil: break
        case .notFound: throw Self.notGood
        case .tooLong:
            throw Problem(
                .invalidRequest,
                "custom_attributes is longer than \(SetTokenClaims.limit) bytes, or deeper than "
                    + "\(SetTokenClaims.depth) levels.")
        }
        let tokens = VerifyTokens(context, tenant)
        guard let refresh else {
            let token = try await tokens.accessToken(
                of: known.session.id, known.session.terms, until: known.expiresAt, for: person)
            return .json(.ok, ["token": .string(token)])
        }
        guard
            case .success(let granted) = try await redeemByName(
                RefreshGrant(session: refresh.session, generation: refresh.generation), as: tenant)
        else { throw Self.badRefresh }
        let fresh = try await tokens.answer(granted, of: person)
        return .json(
            .ok,
            [
                "token": fresh["access_token"] ?? .null,
                "refresh_token": fresh["refresh_token"] ?? .null,
            ])
    }

    /// What a good access token of a tenant's app is about: signed by this realm, not expired, and its session
    /// goes on.
    func tenantToken(
        _ text: String
    ) async throws(Problem) -> (session: SessionView, expiresAt: Timestamp)? {
        let keys = try await reading { () throws(LogFailure) in
            try await context.keys.keys(of: context.place.realm)
        }
        guard
            let claims = try? TenantToken.claims(
                of: text, as: .tenantAccessToken, keys: keys.set, at: context.clock.now()),
            let session = claims["sid"]?.string.flatMap({ UUID($0) }),
            let expiry = claims["exp"]?.integer,
            let live = try await context.live(session), let key = claims["aud"]?.string,
            live.terms.clientID == key
        else { return nil }
        // Its client may be no tenant any more.
        do throws(Problem) { _ = try await tenant(key) } catch {
            guard error.kind == .forbidden else { throw error }
            return nil
        }
        return (live, Timestamp(seconds: expiry))
    }

    /// The session whose access token came along, of an app of this tenant.
    func ownSession(
        _ tenant: Tenant
    ) async throws(Problem) -> (session: SessionView, expiresAt: Timestamp)? {
        guard let line = request.headers["Authorization"], line.lowercased().hasPrefix("bearer ")
        else { return nil }
        return try await tenantSession(of: String(line.dropFirst(7)), tenant)
    }

    /// The session of an access token, of an app of this tenant.
    func tenantSession(
        of token: String, _ tenant: Tenant
    ) async throws(Problem) -> (session: SessionView, expiresAt: Timestamp)? {
        guard let known = try await tenantToken(token),
            known.session.terms.client == tenant.client.id
        else { return nil }
        return known
    }
}
