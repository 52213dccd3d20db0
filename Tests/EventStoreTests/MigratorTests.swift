import EventStore
import Postgres
import PostgresTesting
import Testing
import Threads

@Suite(.serialized) struct `Migrations of several processes` {
    /// Roles are the cluster's: another test's database makes them first.
    init() throws { _ = try TestCluster.shared.makeDatabase() }

    @Test func `processes that migrate at once apply each step once`() async throws {
        let database = try TestCluster.shared.makeDatabase(migrated: false)
        let applied = try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    try await DedicatedThread.run {
                        try Migrator(Connection(database.owner)).migrate()
                    }
                }
            }
            return try await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(applied.count == Migrator.newestSchema)
        #expect(Set(applied).count == Migrator.newestSchema)
        let state = try Migrator(Connection(database.owner)).state()
        #expect(state.isCurrent)
    }

    /// Any role that reads may hold a table; advisory locks are open to every role.
    @Test func `a reader puts a migration off, and a role's advisory locks do not`() async throws {
        let database = try TestCluster.shared.makeDatabase()
        try Connection(database.owner).run(
            """
            delete from urd.migration where version = 33;
            drop function urd.note_erasure; alter table urd.realm_log drop column erasures
            """)
        let reader = try Connection(database.observer)
        try reader.run("select pg_advisory_lock(7355608); begin; select from urd.realm_log")
        let waiting = Task {
            try await DedicatedThread.run { try Migrator(Connection(database.owner)).migrate() }
        }
        let witness = try Connection(database.superuser)
        let isWaiting = "select from pg_locks l where not l.granted and l.locktype = 'relation'"
        while try witness.run(isWaiting).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        // Others do not queue behind it for long.
        while try !witness.run(isWaiting).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try reader.run("rollback")
        #expect(try await waiting.value == ["33 noted_erasures"])
    }

    @Test func `a migration gives up where a reader does not end, and has changed nothing`()
        async throws
    {
        let database = try TestCluster.shared.makeDatabase()
        let owner = try Connection(database.owner)
        try owner.run(
            """
            delete from urd.migration where version = 33;
            drop function urd.note_erasure; alter table urd.realm_log drop column erasures
            """)
        let reader = try Connection(database.observer)
        try reader.run("begin; select from urd.realm_log")
        await #expect(throws: Migrator.Refusal.tablesAreHeld(version: 33)) {
            try await DedicatedThread.run {
                try Migrator(Connection(database.owner), attempts: 2).migrate()
            }
        }
        #expect(try Migrator(Connection(database.owner)).state().pending == ["33 noted_erasures"])
        #expect(
            try owner.run("select from pg_proc where proname = 'note_erasure'").isEmpty)
        // Once the reader ends the step is applied.
        try reader.run("rollback")
        #expect(try Migrator(owner).migrate() == ["33 noted_erasures"])
        #expect(
            Migrator.Refusal.tablesAreHeld(version: 33).description.contains(
                "idle in a transaction"))
    }
}
