import EventSourcing
import Identity
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `The providers that pages offer` {
    private let log = WatchedLog()

    private func carryOut(_ command: some Command, _ realm: RealmID) async throws {
        _ = try await Dispatcher(log: log).dispatch(
            command, in: realm, id: .random(),
            origin: Origin(actor: "system", at: Timestamp(seconds: 1_800_000_000)))
    }

    private func provider(_ slug: String, _ name: String)
        -> ProviderChange.Change<ProviderChange.ConfigureRejection>
    {
        ProviderChange.configure(
            Provider(slug: slug, name: name, issuer: "https://id.example", clientID: "urd"))
    }

    @Test func `offered providers go with a change, and with another epoch`() async throws {
        let realm = try #require(RealmID("acme"))
        let revision = Mutex<Int64>(1)
        let known = KnownProviders(log) { _ in revision.withLock { $0 } }
        try await carryOut(RealmChange.create(displayName: "Acme"), realm)
        let kept = try await log.head(of: realm).position
        #expect(try await known.all(in: realm).isEmpty)
        try await carryOut(provider("one", "One"), realm)
        // Until it is heard that the realm's configuration changed, what was read is good, and costs no look.
        let pages = log.pagesRead
        #expect(try await known.all(in: realm).isEmpty)
        #expect(log.pagesRead == pages)
        revision.withLock { $0 += 1 }
        let one = ProviderLabel(slug: "one", name: "One")
        #expect(try await known.all(in: realm) == [one])
        try await carryOut(provider("one", "Uno"), realm)
        try await carryOut(provider("two", "Two"), realm)
        revision.withLock { $0 += 1 }
        #expect(
            try await known.all(in: realm) == [
                ProviderLabel(slug: "one", name: "Uno"), ProviderLabel(slug: "two", name: "Two"),
            ])
        try await carryOut(ProviderChange.remove("one"), realm)
        revision.withLock { $0 += 1 }
        #expect(try await known.all(in: realm).map(\.slug) == ["two"])
        // Another epoch gives another revision, which may be any number.
        try await log.failOver(realm, keeping: kept)
        revision.withLock { $0 = -1 }
        #expect(try await known.all(in: realm).isEmpty)
    }
}
