internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Why a client is not let in, and which it would have been, where there is one of that name.
struct RefusedClaim: Error {
    let problem: Problem
    var client: KnownClient?
    var clientID = ""

    init(_ problem: Problem) { self.problem = problem }
}

/// How a client shows that it is itself.
extension RealmContext {
    /// As much is looked up for a name that no client has as for one that some client has.
    func authenticate(
        _ credentials: ClientCredentials?, for request: Request, at traits: RouteTraits
    ) async throws(RefusedClaim) -> PresentClient {
        var refused: RefusedClaim
        do throws(Problem) {
            guard let credentials, let clientID = try name(of: credentials) else {
                throw Problem(.invalidClient, "client_id is required.")
            }
            if let client = try await cached(clientID, credentials, request, traits) {
                return client
            }
            let known = try await fresh(clientID)
            do throws(Problem) {
                let client = try await confirm(
                    known, clientID, credentials, request, traits)
                if traits.contains(.acceptsCachedClient) {
                    _ = try? await clients.recent(clientID, in: place.realm)
                }
                return client
            } catch {
                refused = RefusedClaim(error)
                refused.client = known
                refused.clientID = clientID
            }
        } catch {
            refused = RefusedClaim(error)
        }
        throw refused
    }

    /// What this process knows from a moment ago is good enough for some ways and never a reason to refuse.
    private func cached(
        _ clientID: String, _ credentials: ClientCredentials, _ request: Request,
        _ traits: RouteTraits
    ) async throws(Problem) -> PresentClient? {
        guard traits.contains(.acceptsCachedClient) else { return nil }
        let revision = keys.revision(place.realm)
        let known = clients.cached(clientID, in: place.realm)
        guard
            var client = try await present(
                known, clientID, credentials, request, traits, isOld: true)
        else { return nil }
        client.revision = revision
        return client
    }

    /// The client as the log has it now.
    func lookUp(
        _ credentials: ClientCredentials, _ clientID: String, for request: Request
    ) async throws(Problem) -> PresentClient {
        try await confirm(try await fresh(clientID), clientID, credentials, request, [])
    }

    private func fresh(_ clientID: String) async throws(Problem) -> KnownClient? {
        try await reading { () throws(LogFailure) in
            try await clients.fresh(clientID, in: place.realm)
        }
    }

    private func confirm(
        _ known: KnownClient?, _ clientID: String, _ credentials: ClientCredentials,
        _ request: Request, _ traits: RouteTraits
    ) async throws(Problem) -> PresentClient {
        guard
            let client = try await present(
                known, clientID, credentials, request, traits, isOld: false)
        else {
            guard case .assertion = credentials.proof else { throw Problem(.invalidClient) }
            throw Problem(.invalidClient, wantedAssertion)
        }
        return client
    }

    /// The client, if it shows what it is known by.
    private func present(
        _ known: KnownClient?, _ clientID: String, _ credentials: ClientCredentials,
        _ request: Request, _ traits: RouteTraits, isOld: Bool
    ) async throws(Problem) -> PresentClient? {
        guard let known = known ?? (isOld ? StandInClient.known : StandInClient.read()) else {
            return nil
        }
        if credentials.isRepeated, !known.metadata.rules.repeatsSecret {
            // What was known a moment ago is no reason to refuse.
            guard !isOld else { return nil }
            throw ClientCredentials.severalWays
        }
        // A tenant has endpoints of its own, and no others.
        guard !known.isDisabled, !known.metadata.rules.isTenant else { return nil }
        let way = known.metadata.authenticationMethod.way
        if isOld, !way.mayBeOld { return nil }
        let claim = ClientClaim(
            clientID: clientID, client: known, shown: credentials.proof, request: request,
            traits: traits)
        guard let proof = try await way.proof(of: claim, in: self),
            proof.isGood(for: known.metadata.authenticationMethod, known.secret)
        else { return nil }
        return PresentClient(
            id: known.id, clientID: clientID, proof: proof, metadata: known.metadata)
    }

    /// An assertion names its client by itself; who is named beside it must be the same.
    func name(of credentials: ClientCredentials) throws(Problem) -> String? {
        guard case .assertion(let type, let text) = credentials.proof else {
            return credentials.clientID
        }
        guard type == SignedAssertion.type else {
            throw Problem(.invalidClient, "There is no such type of assertion here.")
        }
        guard let claimed = try? ClientAssertion.claimedClient(in: text) else {
            throw Problem(.invalidClient, wantedAssertion)
        }
        if let named = credentials.clientID, !named.utf8.elementsEqual(claimed.utf8) {
            throw Problem(.invalidRequest, "client_id is not the client of the assertion.")
        }
        // What no client is called need not be looked for.
        return claimed.utf8.count <= 128 && !claimed.utf8.contains(0) ? claimed : nil
    }
}

/// What is looked at where there is no such client: nothing is good for it, and as much is done.
private enum StandInClient {
    static let known = ClientMetadata(recorded: [:]).map { metadata in
        KnownClient(
            id: UUID(high: 0, low: 0), metadata: metadata,
            secret: SecretDigest(Random.bytes(32)), isDisabled: false)
    }

    private static let recorded = JSON.object(known?.metadata.members ?? [:]).canonical()

    /// As the read model's clients are read.
    static func read() -> KnownClient? {
        guard let known, let fields = (try? JSON.parse(recorded))?.object,
            let metadata = ClientMetadata(recorded: fields)
        else { return nil }
        return KnownClient(
            id: known.id, metadata: metadata, secret: known.secret, isDisabled: false)
    }
}
