internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension Call<RealmContext> {
    /// A grant by a client whose own key stands in for its proof: what was shown is bound to it in another way.
    func grant<Shown: Grant>(
        _ grant: Shown, of client: KnownClient, _ clientID: String, as session: UUID? = nil,
        scope: [String] = [], isFaulty: Bool = false
    ) async throws(Problem) -> GrantOutcome {
        guard let key = try await context.sharedKey(of: client) else {
            return .failure(.invalidClient)
        }
        var request = GrantRequest(
            client: client.id, clientID: clientID,
            proof: .secret(key.digest),
            app: context.place.app, scope: scope, session: session ?? context.newID(),
            from: context.signInPlace(of: self.request), now: context.clock.now(),
            issuer: context.place.issuer)
        request.isFaulty = isFaulty
        switch try await Commands(self).attempt(
            RedeemGrant(grant, request), as: .client(clientID))
        {
        case .success(let outcome): return outcome
        case .failure(let refusal): return .failure(refusal)
        }
    }

    /// Refreshes a token of the profile at the endpoint that gave it.
    func refreshFederated(
        at service: FederationService?
    ) async throws(Problem) -> Response {
        let notGood = Problem.refused(
            "invalid_grant", "The refresh token is not valid, or is no longer.")
        guard let text = member("refresh_token"),
            let shown = context.mint.readRefreshToken(text),
            let session = try await context.live(shown.session),
            // Bearer tokens are refreshed with their client's secret, at the other endpoint.
            session.terms.isRefreshedForRequests, let holder = session.terms.federation?.holder,
            let client = try await RealmLookups(context).client(named: session.terms.clientID)
        else { throw notGood }
        let isOfService = holder == .service || holder == .application
        let isHere =
            isOfService == (service != nil)
            && service?.client.id ?? session.terms.client == session.terms.client
        var grant = RefreshGrant(session: shown.session, generation: shown.generation)
        grant.takesRequestKeys = true
        guard
            case .success(let granted) = try await self.grant(
                grant, of: client, session.terms.clientID, isFaulty: !isHere)
        else { throw notGood }
        return .json(.ok, try await FederatedTokens(context).answer(granted))
    }

    /// A member of the body that is a text; what is none is as good as left out.
    func member(_ name: String) -> String? {
        guard let text = body[name]?.string, !text.isEmpty else { return nil }
        return text
    }

    func requireMember(_ name: String) throws(Problem) -> String {
        guard let text = member(name) else {
            throw Problem(.invalidRequest, "\(name) is required.")
        }
        return text
    }
}

extension GrantType {
    /// Documents of the profile write the names with `param`, its standards with `params`.
    static func isNamed(_ text: String, _ name: String) -> Bool {
        text == "urn:ietf:params:oauth:grant-type:\(name)"
            || text == "urn:ietf:param:oauth:grant-type:\(name)"
    }
}
