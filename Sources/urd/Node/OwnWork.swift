import API
import EventSourcing
import EventStore
import HTTPClient
import ReadModels
import Values

/// What a node's own services have in common: those without a request, such as deliveries.
extension Store {
    /// Dispatches a command that the service of this name decided on.
    func dispatch<C: Command>(
        _ command: C, in realm: RealmID, by service: String
    ) async throws {
        let now = clock.now()
        _ = try await dispatcher.dispatch(
            command, in: realm, id: newID(), digest: [], origin: Origin(actor: service, at: now))
    }

    func newID() -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: clock.now(), using: &random)
    }

    var realmClock: RealmContext.Clock {
        let start = ContinuousClock.now
        return RealmContext.Clock(now: clock.now, passed: { ContinuousClock.now - start })
    }

    func tokenKeys(_ queries: ReadModelQueries, _ clock: RealmContext.Clock) -> TokenKeys {
        TokenKeys(
            commands: dispatcher, clock: clock, revision: { queries.revision(of: $0) },
            generate: newSigningKey)
    }
}

extension HTTPClient.Configuration {
    /// For calls to addresses that clients name: none may lead into the own network.
    static func toClients(_ options: ServeOptions) -> Self {
        var configuration = Self()
        configuration.destinations = options.destinations
        configuration.caFile = options.authorities
        configuration.connectTimeout = .seconds(3)
        configuration.maximumBodyBytes = 16 << 10
        configuration.userAgent = "Urd"
        return configuration
    }
}
