import EventSourcing
import Postgres
import PostgresTesting
import Testing

@testable import EventStore

@Suite struct `A session that keeps writes out` {
    private func found(_ store: TestStore) async throws -> [WriteBlock] {
        try await store.pool.run { connection throws(Failure) in
            try WriteBlock.read(connection)
        }
    }

    private func append(_ store: TestStore, in realm: RealmID) async throws {
        _ = try expectWon(try await store.log.append(commit(to: newID(), in: realm)))
    }

    @Test(arguments: ["command", "subject_key", "stream", "event", "claim", "realm_log"])
    func `a session that locks a table of the log is found, also while nobody writes`(
        table: String
    ) async throws {
        let store = try TestStore()
        defer { store.log.close() }
        #expect(try await found(store).isEmpty)
        let session = try await Session(store.database.superuser)
        try await session.run("begin; lock table urd.\(table) in share mode")
        let blocks = try await found(store)
        #expect(blocks.map(\.process) == [session.process])
        #expect(blocks.map(\.place) == [.table(table)])
        #expect(blocks.first?.application == "test")
        // Whose time is not shown to the application.
        #expect(blocks.first?.age == nil)
        try await session.run("rollback")
        #expect(try await found(store).isEmpty)
    }

    @Test func `a lock that lets writes through is nobody's matter`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let session = try await Session(store.database.superuser)
        try await session.run(
            "begin; lock table urd.event in share update exclusive mode; select from urd.command")
        #expect(try await found(store).isEmpty)
    }

    @Test func `a session that locks the end of a realm's log is found with the realm`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (one, other) = (newRealm(), newRealm())
        for realm in [one, other] { try await append(store, in: realm) }
        let session = try await Session(store.database.superuser)
        try await session.holdHead(of: one)
        let blocks = try await found(store)
        #expect(blocks.map(\.place) == [.log(realm: one.name)])
        #expect(blocks.map(\.process) == [session.process])
        try await append(store, in: other)
        try await session.run("rollback")
        #expect(try await found(store).isEmpty)
    }

    @Test func `a session whose rows others wait for is found with the table, once`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        try await append(store, in: realm)
        let keys = "select from urd.realm_key where realm = '\(realm)' for update"
        let session = try await Session(store.database.superuser)
        try await session.run("begin; \(keys)")
        let waiter = try await Session(store.database.application)
        let waiting = Task { try await waiter.run("begin; \(keys)") }
        try await eventually("who is waited for is found") {
            try await found(store).contains { $0.process == session.process }
        }
        let blocks = try await found(store)
        #expect(blocks.map(\.place) == [.rows("realm_key")])
        try await session.run("rollback")
        _ = try await waiting.value
        #expect(try await found(store).isEmpty)
    }
}
