import EventSourcing
import EventStore
import Foundation
import Postgres
import PostgresTesting
import Testing
import Values

/// The log without its database: it says so soon, loses nothing, and goes on by itself.
@Suite(.serialized) struct `When the database` {
    private static let soon: Duration = .seconds(8)

    private func expectUnavailable(
        _ log: PostgresLog, _ realm: RealmID, reads: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let started = ContinuousClock.now
        let outcome = await ending(log, commit(to: newID(), in: realm))
        #expect(outcome == .failure(.unavailable), sourceLocation: sourceLocation)
        if reads {
            await #expect(throws: LogFailure.unavailable, sourceLocation: sourceLocation) {
                _ = try await log.stream(newID(), after: 0, in: realm)
            }
            await #expect(throws: LogFailure.unavailable, sourceLocation: sourceLocation) {
                _ = try await log.head(of: realm)
            }
        }
        #expect(ContinuousClock.now - started < Self.soon, sourceLocation: sourceLocation)
    }

    /// Appends until it works again.
    private func expectHealed(_ log: PostgresLog, _ realm: RealmID) async throws -> Positions {
        var outcome: AppendOutcome?
        try await eventually("the log goes on") {
            outcome = try? await ending(log, commit(to: newID(), in: realm)).get()
            return outcome != nil
        }
        _ = try await log.events(from: 1, limit: 10, in: realm)
        return try expectWon(outcome)
    }

    @Test func `a missing database fails every call until it is back`() async throws {
        let cluster = try TestCluster()
        let store = try TestStore(cluster)
        defer { store.log.close() }
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        for isCrash in [false, true] {
            try await offPool { try cluster.stop(immediate: isCrash) }
            try await expectUnavailable(store.log, realm)
            try await offPool { try cluster.start() }
            _ = try await expectHealed(store.log, realm)
        }
        let events = try await store.log.events(from: 1, limit: 10, in: realm)
        #expect(events.map(\.position) == [1, 2, 3])
    }

    @Test func `a database that starts later than the log is waited for`() async throws {
        let cluster = try TestCluster()
        let database = try cluster.makeDatabase()
        try await offPool { try cluster.stop() }
        let store = try TestStore(database, master: .generate())
        defer { store.log.close() }
        let realm = newRealm()
        try await expectUnavailable(store.log, realm)
        try await offPool { try cluster.start() }
        #expect(try await expectHealed(store.log, realm).first == 1)
    }

    @Test func `a read-only database refuses writes until it is writable`() async throws {
        let store = try TestStore(TestCluster())
        defer { store.log.close() }
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        let session = try await Session(store.database.superuser)
        try await session.run("alter system set default_transaction_read_only = on")
        try await session.run("select pg_reload_conf()")
        try await eventually("the setting arrives") {
            try await session.text("show default_transaction_read_only") == "on"
        }
        try await eventually("the committer sees it") {
            await ending(store.log, commit(to: newID(), in: realm)) == .failure(.unavailable)
        }
        try await expectUnavailable(store.log, realm, reads: false)
        // Whoever comes new finds no server to write to.
        let late = try TestStore(store.database, master: store.master)
        defer { late.log.close() }
        try await expectUnavailable(late.log, realm)

        try await session.run("set default_transaction_read_only = off")
        try await session.run("alter system reset default_transaction_read_only")
        try await session.run("select pg_reload_conf()")
        _ = try await expectHealed(store.log, realm)
        _ = try await expectHealed(late.log, realm)
    }

    @Test
    func `a database that is read-only for the application's role is refused until it is not`()
        async throws
    {
        let store = try TestStore(TestCluster())
        defer { store.log.close() }
        try store.database.asSuperuser(
            "alter role urd_app set default_transaction_read_only = on")
        let realm = newRealm()
        try await expectUnavailable(store.log, realm)
        try store.database.asSuperuser("alter role urd_app reset default_transaction_read_only")
        _ = try await expectHealed(store.log, realm)
    }

    @Test func `a database without free connections is unavailable until there is room`()
        async throws
    {
        let store = try TestStore(TestCluster())
        defer { store.log.close() }
        let realm = newRealm()
        _ = try await store.keyring.keys(of: realm)
        try store.database.asSuperuser("alter role urd_app connection limit 0")
        try store.database.asSuperuser(
            """
            select pg_terminate_backend(pid) from pg_stat_activity where usename = 'urd_app'
            """)
        try await expectUnavailable(store.log, realm)
        try store.database.asSuperuser("alter role urd_app connection limit -1")
        _ = try await expectHealed(store.log, realm)
    }
}
