import API
import EventSourcing
import EventStore
import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Threads
import Values

extension RealmContexts {
    init(
        store: Store, queries: ReadModelQueries, _ forwarding: Forwarding,
        _ outgoing: OutgoingCalls?, issuers: Places.Issuers? = nil,
        passphrases: PassphraseWork = .none,
        locate: @escaping RealmContext.Locate = { _ in nil }
    ) {
        let clock = store.realmClock
        self.init(
            places: Places(queries, forwarding: forwarding, issuers: issuers),
            mint: store.mint, keys: store.tokenKeys(queries, clock),
            commands: store.dispatcher, queries: queries, clock: clock,
            fetchKeys: { await outgoing?.keys(at: $0) },
            callProviders: UpstreamCalls(outgoing), passphrases: passphrases,
            limits: RateLimits(metrics: store.metrics), locate: locate)
    }
}

extension WebhookKeys {
    convenience init(_ store: Store, _ queries: ReadModelQueries) {
        self.init(
            commands: store.dispatcher, clock: store.realmClock,
            revision: { queries.revision(of: $0) })
    }
}

extension UpstreamCalls {
    init(_ outgoing: OutgoingCalls?) {
        self.init(
            get: { await outgoing?.ask($0, bearer: $1) },
            post: { await outgoing?.post($0, form: $1, authorization: $2) })
    }
}

extension MailComposer {
    init(_ store: Store, _ queries: ReadModelQueries) {
        self.init(
            mint: store.mint, events: store.log, revision: { queries.revision(of: $0) },
            settings: { realm, app throws(LogFailure) in
                let settings = Identity.Settings(
                    overrides: try await queries.ask(RealmView.byName, in: realm)?.settings ?? [:])
                guard let app, let face = try await queries.ask(AppView.byID, app, in: realm) else {
                    return settings
                }
                return settings.overlaid(by: Identity.Settings(overrides: face.settings))
            })
    }
}

extension Store {
    var mint: RealmContexts.Mints {
        { realm throws(LogFailure) in
            let keys = try await keyring.keys(of: realm)
            return TokenMint(versions: keys.deriveVersions) { key, purpose, bytes in
                switch key {
                case .name: keys.deriveName(purpose, bytes)
                case .version(let version): keys.derive(purpose, bytes, version: version)
                }
            }
        }
    }
}

/// An RSA key takes a tenth of a second, and now and then much longer.
@Sendable func newSigningKey(_ algorithm: SigningAlgorithm) async throws -> SigningKey {
    try await DedicatedThread.run { try SigningKey.generate(algorithm) }
}
