import Postgres
import PostgresTesting
import Testing
import Threads

@testable import EventStore

@Suite(.serialized) struct `Migrations of several processes` {
    /// Roles are the cluster's: another test's database makes them first.
    init() throws { _ = try TestCluster.shared.makeDatabase() }

    /// A step that changes a table which readers hold.
    private let steps =
        Migrations.all + [
            step(1, "alter table urd.realm_log add column other integer"),
            step(2, "create table urd.other (realm text)"),
        ]

    private static func step(_ number: Int, _ sql: String) -> Migrations.Step {
        Migrations.Step(
            version: Migrator.newestSchema + number, name: "step_\(number)", sql: Array(sql.utf8))
    }

    private var names: [String] { steps.map { "\($0.version) \($0.name)" } }

    @Test func `processes that migrate at once apply each step once`() async throws {
        let database = try TestCluster.shared.makeDatabase(migrated: false)
        let applied = try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask { [steps] in
                    try await DedicatedThread.run {
                        try Migrator(Connection(database.owner), steps: steps).migrate()
                    }
                }
            }
            return try await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(applied.sorted() == names)
        let state = try Migrator(Connection(database.owner), steps: steps).state()
        #expect(state.isCurrent)
    }

    /// Any role that reads may hold a table; advisory locks are open to every role.
    @Test func `a reader puts a migration off, and a role's advisory locks do not`() async throws {
        let database = try TestCluster.shared.makeDatabase()
        let reader = try Connection(database.observer)
        try reader.run("select pg_advisory_lock(7355608); begin; select from urd.realm_log")
        let waiting = Task { [steps] in
            try await DedicatedThread.run {
                try Migrator(Connection(database.owner), steps: steps).migrate()
            }
        }
        let witness = try Connection(database.superuser)
        let isWaiting = "select from pg_locks l where not l.granted and l.locktype = 'relation'"
        while try witness.run(isWaiting).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        // Others do not queue behind it for long.
        while try !witness.run(isWaiting).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try reader.run("rollback")
        #expect(try await waiting.value == Array(names.suffix(2)))
    }

    @Test func `a migration gives up where a reader does not end, and has changed nothing`()
        async throws
    {
        let database = try TestCluster.shared.makeDatabase()
        let owner = try Connection(database.owner)
        let reader = try Connection(database.observer)
        try reader.run("begin; select from urd.realm_log")
        let held = Migrator.Refusal.tablesAreHeld(version: Migrator.newestSchema + 1)
        let steps = steps
        await #expect(throws: held) {
            try await DedicatedThread.run {
                try Migrator(Connection(database.owner), attempts: 2, steps: steps).migrate()
            }
        }
        #expect(try Migrator(owner, steps: steps).state().pending == Array(names.suffix(2)))
        #expect(try owner.run("select from pg_attribute where attname = 'other'").isEmpty)
        // Once the reader ends the step is applied.
        try reader.run("rollback")
        #expect(try Migrator(owner, steps: steps).migrate() == Array(names.suffix(2)))
        #expect(held.description.contains("idle in a transaction"))
    }
}
