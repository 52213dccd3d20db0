internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// A failed authentication of an existing client is on record: it is the client's own mistake or an
/// attacker who tries secrets. A client ID that does not exist leaves nothing.
extension RealmContext {
    func record(_ claim: RefusedClaim, in request: Request) {
        let asked = Form.parse(request.body)?.first { $0.name == "grant_type" }
        var refused = RefusedSignIn(
            method: asked.flatMap { GrantType(rawValue: $0.value) } ?? .clientCredentials,
            reason: "invalid_client", account: nil, client: .zero, clientID: claim.clientID,
            app: nil,
            from: signInPlace(of: request))
        let origin = origin("anonymous", client: claim.clientID, of: request)
        // As much was done until here for an unknown client ID.
        guard let known = claim.client else { return }
        if known.isDisabled { refused.reason = "client_disabled" }
        count(refused, of: known, origin)
    }

    /// An assertion that was shown to a client or by it, and that is not good or was used: whose it would be is not known.
    ///
    /// - Parameter kind: what it was instead of a JWT.
    func recordRefusedAssertion(
        _ kind: AppSignInMethod? = nil, at client: KnownClient, _ clientID: String,
        in request: Request
    ) {
        var refused = RefusedSignIn(
            method: .jwtBearer, reason: "invalid_assertion", account: nil, client: client.id,
            clientID: clientID, app: nil, from: signInPlace(of: request))
        refused.appMethod = kind
        count(refused, of: client, origin("anonymous", client: clientID, of: request))
    }

    private func count(_ refused: RefusedSignIn, of client: KnownClient, _ origin: Origin) {
        var refused = refused
        (refused.client, refused.app) = (client.id, client.metadata.appID ?? place.app)
        shared.refusals.add(
            refused, origin,
            to: RefusedClientCounters.Key(
                realm: place.realm, client: client.id, reason: refused.reason,
                kind: refused.appMethod))
    }

    /// The pseudonym of the request's network, its device and its place, as each event of a sign-in records them.
    func signInPlace(of request: Request) -> SignInPlace {
        SignInPlace(
            source: mint.pseudonym(ofNetwork: Source(place.address).network),
            device: DeviceKind.of(userAgent: request.headers["User-Agent"]),
            location: location)
    }

    /// As the operator's databases know the address now. What is on record of it is never looked up again.
    private var location: GeoLocation? {
        guard place.settings[SettingCatalogue.recordPlaces] else { return nil }
        return IPAddress(place.address).flatMap(shared.locate)
    }
}

extension RealmContexts {
    /// Records the refusals of clients, summed up, until the task is cancelled.
    public func recordRefusals() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    try await Task.sleep(for: .seconds(10))
                    shared.refusals.wake()
                }
            }
            group.addTask {
                for await _ in shared.refusals.arrivals { await recordDueRefusals() }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Those that are due; all that there are before the process ends.
    public func recordDueRefusals(all: Bool = false) async {
        let (sums, clock) = (shared.refusals, shared.clock)
        for (key, sum) in sums.take(at: clock.passed(), all: all) {
            var origin = sum.origin
            origin.at = clock.now()
            var random = SystemRandom()
            let attempt = UUID.v7(at: origin.at, using: &random)
            let command = UUID.v7(at: origin.at, using: &random)
            do throws(Problem) {
                _ = try await shared.commands.attempt(
                    ClientChange.recordRefusal(attempt, sum.refused), in: key.realm, id: command,
                    by: origin)
            } catch {
                sums.giveBack(sum, to: key)
            }
        }
    }
}
