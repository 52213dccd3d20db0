internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension Call<RealmContext> {
    /// What is known of the client may be old by a moment: that is no reason to refuse.
    func require(_ grant: GrantType, of client: PresentClient) async throws(Problem) {
        if client.metadata.grantTypes.contains(grant) { return }
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.fresh(client.clientID, in: context.place.realm)
        }
        guard let known, known.metadata.grantTypes.contains(grant) else {
            throw GrantRefusal.unauthorizedClient.problem
        }
    }

    /// A token request without the grant itself.
    func grantRequest(of client: PresentClient) throws(Problem) -> GrantRequest {
        var resources = body["resource"]?.array?.compactMap(\.string) ?? []
        // An exchange may say the same in another word (RFC 8693 section 2.1).
        for audience in body["audience"]?.array?.compactMap(\.string) ?? []
        where body["grant_type"]?.string == GrantType.tokenExchange.rawValue
            && !resources.contains(audience)
        {
            resources.append(audience)
        }
        guard let scope = Scope.parse(body["scope"]?.string ?? "") else {
            throw Problem(.invalidScope, "The scope is misspelt.")
        }
        var asked = bareGrantRequest(of: client)
        asked.scope = scope
        asked.resources = client.metadata.spelled(
            resources, context.place.settings, from: context.place.issuer)
        asked.keyProof = try context.tokenProof(of: request)
        return asked
    }

    /// The client and the address of the request.
    func bareGrantRequest(of client: PresentClient) -> GrantRequest {
        GrantRequest(
            client: client.id, clientID: client.clientID, proof: client.proof,
            app: context.place.app, session: context.newID(),
            from: context.signInPlace(of: request), now: context.clock.now(),
            issuer: context.place.issuer)
    }

    func tokenResponse(_ granted: GrantedTokens) async throws(Problem) -> Response {
        let now = context.clock.now()
        let accessToken = try await Tokens(context).accessToken(granted, at: now)
        var members: JSONObject = [
            "access_token": .string(accessToken),
            "token_type": granted.key == nil ? "Bearer" : "DPoP",
            "expires_in": .integer(granted.lifetime),
        ]
        // RFC 6749 section 3.3: a scope has one name at least.
        if !granted.scope.isEmpty {
            members["scope"] = .string(granted.scope.joined(separator: " "))
        }
        if granted.terms.exchange != nil {
            members["issued_token_type"] = .string(TokenKind.access)
        }
        if granted.terms.isOffline {
            members["refresh_token"] = .string(context.mint.refreshToken(granted))
        }
        members["id_token"] = try await Tokens(context).idToken(granted, for: accessToken, at: now)
            .map {
                .string($0)
            }
        return .json(.ok, .object(members))
    }

    func endSession(_ session: UUID, as client: PresentClient) async throws(Problem) {
        // One that is not found is over.
        _ = try await Commands(self).attempt(
            EndSession(session: session, reason: .revoked), as: .client(client.clientID))
    }
}
