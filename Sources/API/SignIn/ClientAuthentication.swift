internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import Values

/// How a client shows that it is itself.
extension RealmContext {
    func authenticate(
        _ credentials: ClientCredentials?, for request: Request
    ) async throws(Problem) -> PresentClient {
        guard let credentials, let clientID = try name(of: credentials) else {
            throw Problem(.invalidClient, "client_id is required.")
        }
        if request.path == TokenRoutes.tokenPath,
            let client = try await recent(credentials, clientID)
        {
            return client
        }
        let known = try await reading { () throws(LogFailure) in
            try await clients.fresh(clientID, in: place.realm)
        }
        guard let known, !known.isDisabled,
            let proof = try await proof(credentials, of: clientID, known, for: request)
        else { throw Problem(.invalidClient) }
        return PresentClient(
            id: known.id, clientID: clientID, proof: proof, metadata: known.metadata)
    }

    /// The client, if it shows what this process knows it by. An assertion is verified here and
    /// nowhere else: of the keys for it nothing old is good enough.
    private func recent(
        _ credentials: ClientCredentials, _ clientID: String
    ) async throws(Problem) -> PresentClient? {
        if case .assertion = credentials.proof { return nil }
        let known = try await reading { () throws(LogFailure) in
            try await clients.recent(clientID, in: place.realm)
        }
        guard let known, !known.isDisabled,
            let proof = try await proof(credentials, of: clientID, known, for: nil)
        else { return nil }
        return PresentClient(
            id: known.id, clientID: clientID, proof: proof, metadata: known.metadata)
    }

    /// Nil where it is none that the client registered to give, or not a good one.
    private func proof(
        _ credentials: ClientCredentials, of clientID: String, _ known: KnownClient,
        for request: Request?
    ) async throws(Problem) -> ClientProof? {
        let proof: ClientProof
        switch credentials.proof {
        case .none: proof = .none
        case .basic(let secret): proof = try proven(secret, by: .secretBasic)
        case .post(let secret): proof = try proven(secret, by: .secretPost)
        case .assertion(let type, let text):
            guard let request else { return nil }
            proof = try await proven(text, type: type, by: known, clientID, for: request)
        }
        return proof.isGood(for: known.metadata.authenticationMethod, known.secret) ? proof : nil
    }

    /// An assertion names its client by itself; who is named beside it must be the same.
    private func name(of credentials: ClientCredentials) throws(Problem) -> String? {
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

    private func proven(
        _ secret: String, by method: AuthenticationMethod
    ) throws(Problem) -> ClientProof {
        guard let digest = SecretDigest(SHA256.hash(Array(secret.utf8))) else {
            throw Problem(.internalError)
        }
        return .secret(digest, by: method)
    }

    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private func proven(
        _ text: String, type: String, by client: KnownClient, _ clientID: String,
        for request: Request
    ) async throws(Problem) -> ClientProof {
        guard type == Self.assertionType else {
            throw Problem(.invalidClient, "There is no such type of assertion here.")
        }
        guard client.metadata.authenticationMethod == .privateKeyJWT else {
            throw Problem(.invalidClient)
        }
        guard let source = KeySource(client.metadata.jwks, client.metadata.jwksURI) else {
            throw Problem(.invalidClient)
        }
        let (rules, now) = (assertionRules(for: client.metadata), clock.now())
        let assertion: ClientAssertion
        do throws(TokenRejection) {
            assertion = try await remoteKeys.check(source) { keys throws(TokenRejection) in
                try ClientAssertion.check(
                    text, of: clientID, keys: keys, algorithms: Set(ClientKeys.algorithms),
                    rules: rules, at: now)
            }
        } catch {
            throw Problem(.invalidClient)
        }
        let used = UsedAssertion(id: assertion.id, until: rules.lastUse(of: assertion))
        // The token endpoint takes the assertion by a claim in the log, together with what it grants,
        // so that a repeat finds it taken on every node. The others put nothing on record.
        let isRemembered = request.path != TokenRoutes.tokenPath
        guard assertions.isNew(used, of: clientID, in: place.realm, remember: isRemembered) else {
            throw GrantRefusal.usedAssertion.problem
        }
        return .assertion(used)
    }

    /// For the issuer and nobody else: an assertion that names an address could have been asked for
    /// by another server that gave out that address as its own.
    private func assertionRules(for client: ClientMetadata) -> ClientAssertion.Rules {
        var audiences: Set<String> = [place.issuer]
        if client.assertsForTokenURL || place.settings[SettingCatalogue.assertionForTokenURL] {
            audiences.insert(place.issuer + TokenRoutes.tokenPath)
        }
        return ClientAssertion.Rules(audiences: audiences, longestLifetime: 300)
    }
}
