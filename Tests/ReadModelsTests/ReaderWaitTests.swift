import Postgres
import PostgresTesting
import Synchronization
import Testing
import Threads

@testable import ReadModels

/// Runs the engine on a thread of its own, with hardly a pause between attempts, and keeps what it
/// reports.
private final class Background: Sendable {
    private struct State {
        var waits: [[LockHolder]] = []
        var result: Result<Comparison, any Error>?
    }

    private let state = Monitor(State())

    init(rebuilding name: String, _ engine: ProjectionEngine) {
        start(engine) { try $0.rebuild(name, report: $1) }
    }

    init(migrating engine: ProjectionEngine) {
        start(engine) { engine, report in
            _ = try engine.migrate { report($1) }
            return .incomparable
        }
    }

    private func start(
        _ engine: ProjectionEngine,
        _ work:
            @escaping @Sendable (ProjectionEngine, @escaping ProjectionEngine.Report) throws ->
            Comparison
    ) {
        var engine = engine
        engine.pace = .init(lock: 1, pause: 1)
        DedicatedThread.startRequired { [engine, state] in
            let result = Result {
                try work(engine) { step in
                    guard case .waiting(let holders) = step else { return }
                    state.withLock { $0.waits.append(holders) }
                    state.wakeAll()
                }
            }
            state.withLock { $0.result = result }
            state.wakeAll()
        }
    }

    /// What was reported once so many attempts had failed, or the end that came before.
    func wait(times count: Int) throws -> [[LockHolder]] {
        let (waits, result) = state.wait { state in
            state.waits.count >= count || state.result != nil ? (state.waits, state.result) : nil
        }
        if let result { _ = try result.get() }
        #expect(result == nil, "It did not wait.")
        return waits
    }

    func result() throws -> Comparison {
        try state.wait { $0.result }.get()
    }
}

@Suite struct `A reader of a view` {
    @Test func `a reader that locks a view delays the rebuild alone, and is named`() throws {
        let world = try World([fragile(.inline)])
        try world.append(numbered([1, 2]), in: "one")
        let reader = try Connection(world.database.superuser, application: "monthly report")
        try reader.run("begin; select count(*) from urd.fragile")
        let process = Int(try reader.run("select pg_backend_pid()").text(0, 0))
        let rebuild = Background(rebuilding: "fragile", world.engine([fragile(.inline)]))
        // More often than any number of attempts that was ever allowed.
        let waits = try rebuild.wait(times: 150)
        let expected = LockHolder(
            process: try #require(process), user: "postgres", application: "monthly report")
        #expect(waits.allSatisfy { $0 == [expected] || $0.isEmpty })
        #expect(waits.contains([expected]))
        // Nobody else is held up: they read, and they write to both builds.
        #expect(try world.live("fragile") == 1)
        try world.append(numbered([3]), in: "one")
        #expect(try world.rows("fragile").count == 3)
        try reader.run("commit")
        // They were compared before; what was appended since stands in both.
        #expect(try rebuild.result() == .equal(rows: 2))
        #expect(try world.live("fragile") == 2)
        #expect(try world.rows("fragile").count == 3)
        try world.append(numbered([4]), in: "one")
        #expect(try world.rows("fragile").count == 4)
    }

    @Test func `a reader of all tables at one moment, like a dump, does not block a rebuild's end`()
        throws
    {
        let world = try World([fragile(.inline)])
        try world.append(numbered([1]), in: "one")
        let engine = world.engine([fragile(.inline)])
        _ = try engine.rebuild("fragile")
        // What it holds of the views it lets go; its tables it keeps to its end.
        let dump = try Connection(world.database.superuser, application: "pg_dump")
        try dump.run(
            """
            begin isolation level repeatable read read only;
            lock table urd.fragile_1, urd.fragile_2 in access share mode
            """)
        #expect(try engine.rebuild("fragile") == .equal(rows: 1))
        #expect(try world.live("fragile") == 3)
        #expect(try engine.rebuild("fragile") == .equal(rows: 1))
        #expect(try world.live("fragile") == 4)
        try world.append(numbered([2]), in: "one")
        #expect(try world.rows("fragile").count == 2)
        // What it reads is still there for it, and goes once it has ended.
        #expect(try dump.run("select count(*) from urd.fragile_1").text(0, 0) == "1")
        try dump.run("commit")
        #expect(try engine.rebuild("fragile") == .equal(rows: 2))
        for build in 1...2 {
            #expect(try world.value("to_regclass('urd.fragile_\(build)')") == "null")
        }
    }

    @Test func `a reader of a dropped build does not see its number reused`() throws {
        let world = try World([fragile(.inline)])
        // A run that was killed before it registered its build; somebody reads what it left.
        try world.owner.run("create table urd.fragile_2 (left_over integer)")
        let reader = try Connection(world.database.superuser)
        try reader.run("begin; lock table urd.fragile_2 in access share mode")
        let engine = world.engine([fragile(.inline)])
        #expect(try engine.rebuild("fragile") == .equal(rows: 0))
        #expect(try world.live("fragile") == 3)
        try reader.run("commit")
        _ = try engine.rebuild("fragile")
        #expect(try world.value("to_regclass('urd.fragile_2')") == "null")
    }

    @Test func `a reader of a projection that the binary no longer knows is waited for`() throws {
        let world = try World([fragile(.inline), fragile(.inline, name: "frail")])
        let reader = try Connection(world.database.superuser)
        try reader.run("begin; select count(*) from urd.frail")
        let migration = Background(migrating: world.engine([fragile(.inline)]))
        let waits = try migration.wait(times: 3)
        #expect(waits.contains { $0.map(\.user) == ["postgres"] })
        #expect(try world.live("frail") == 1)
        try reader.run("commit")
        _ = try migration.result()
        #expect(try world.value("to_regclass('urd.frail_1')") == "null")
        #expect(try world.value("to_regclass('urd.frail_position')") == "null")
    }

    @Test func `a reader's lock does not lose a live build to a failure after the switch`() throws {
        let world = try World([fragile(.inline)])
        try world.append(numbered([1]), in: "one")
        try world.superuser.run(
            """
            create or replace function urd.detach(p_realm text, p_projection text, p_build integer)
            returns void language plpgsql as $$
            begin
                raise exception 'no' using errcode = '53200';
            end $$
            """)
        #expect(throws: Postgres.Failure.self) {
            try world.engine([fragile(.inline)]).rebuild("fragile")
        }
        #expect(try world.live("fragile") == 2)
        #expect(try world.rows("fragile").count == 1)
    }
}
