import API
import EventSourcing
import EventStore
import HTTPClient
import Identity
import JSON
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

    /// Dispatches a command again and again until it is on record: what a receiver answered is not lost to an outage, and
    /// what it took is not sent again by this process. Ends with a rejection too: another node was faster.
    func record<C: Command>(
        _ command: @autoclosure () -> C, in realm: RealmID, by service: String
    ) async throws {
        var pause = Duration.milliseconds(100)
        while true {
            do {
                return try await dispatch(command(), in: realm, by: service)
            } catch is C.Rejection {
                return
            } catch {
                try Task.checkCancellation()
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(30))
            }
        }
    }

    /// The delay after a failure: an outage is soon over; what cannot be read is no better in a second.
    static func rest(after error: any Error) -> Duration {
        (error as? LogFailure)?.isLasting == true ? .seconds(60) : .seconds(1)
    }

    /// The id of a mail to the realm's contact; nil where it has none.
    func mailToContact(of realm: RealmID, _ queries: ReadModelQueries) async -> UUID? {
        await settings(of: realm, queries)[SettingCatalogue.contact].map { _ in newID() }
    }

    func settings(of realm: RealmID, _ queries: ReadModelQueries) async -> Identity.Settings {
        Identity.Settings(
            overrides: (try? await queries.ask(RealmView.byName, in: realm))?.settings ?? [:])
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
