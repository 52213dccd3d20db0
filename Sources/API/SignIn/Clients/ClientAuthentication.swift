internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE

/// How a client shows that it is itself.
extension RealmContext {
    func authenticate(
        _ credentials: ClientCredentials?, for request: Request
    ) async throws(Problem) -> PresentClient {
        guard let credentials, let clientID = try name(of: credentials) else {
            throw Problem(.invalidClient, "client_id is required.")
        }
        if TokenRoutes.asksAgain(request.path) {
            let revision = keys.revision(place.realm)
            let known = try await reading { () throws(LogFailure) in
                try await clients.recent(clientID, in: place.realm)
            }
            if var client = try await present(known, clientID, credentials, request, isOld: true) {
                client.revision = revision
                return client
            }
        }
        return try await lookUp(credentials, clientID, for: request)
    }

    /// The client as the log has it now.
    func lookUp(
        _ credentials: ClientCredentials, _ clientID: String, for request: Request
    ) async throws(Problem) -> PresentClient {
        let known = try await reading { () throws(LogFailure) in
            try await clients.fresh(clientID, in: place.realm)
        }
        guard let client = try await present(known, clientID, credentials, request, isOld: false)
        else { throw Problem(.invalidClient) }
        return client
    }

    /// The client, if it shows what it is known by. What this process knows from a moment ago is good
    /// enough for some ways and never a reason to refuse.
    private func present(
        _ known: KnownClient?, _ clientID: String, _ credentials: ClientCredentials,
        _ request: Request, isOld: Bool
    ) async throws(Problem) -> PresentClient? {
        guard let known, !known.isDisabled else { return nil }
        let way = known.metadata.authenticationMethod.way
        if isOld, !way.mayBeOld { return nil }
        let claim = ClientClaim(
            clientID: clientID, client: known, shown: credentials.proof, request: request)
        guard let proof = try await way.proof(of: claim, in: self),
            proof.isGood(for: known.metadata.authenticationMethod, known.secret)
        else { return nil }
        return PresentClient(
            id: known.id, clientID: clientID, proof: proof, metadata: known.metadata)
    }

    /// An assertion names its client by itself; who is named beside it must be the same.
    func name(of credentials: ClientCredentials) throws(Problem) -> String? {
        guard case .assertion(_, let text) = credentials.proof else { return credentials.clientID }
        guard let claimed = try? ClientAssertion.claimedClient(in: text) else {
            throw Problem(.invalidClient)
        }
        if let named = credentials.clientID, !named.utf8.elementsEqual(claimed.utf8) {
            throw Problem(.invalidRequest, "client_id is not the client of the assertion.")
        }
        // What no client is called need not be looked for.
        return claimed.utf8.count <= 128 && !claimed.utf8.contains(0) ? claimed : nil
    }
}
