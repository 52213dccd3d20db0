import EventSourcing
import EventStore
import Postgres
import PostgresTesting
import Telemetry
import Testing
import Values

@testable import ReadModels

/// Counts events, and breaks at those that say so.
func fragile(_ kind: Projection.Kind, name: String = "fragile", limit: Int = 10) -> Projection {
    let file = """
        -- kind: \(kind.rawValue)
        -- section: tables
        create table urd.\(name)_{build} (
            realm text not null, position bigint not null,
            number integer constraint number_is_small check (number < \(limit)),
            primary key (realm, position)
        );
        -- section: apply
        create function urd.\(name)_{build}_apply(p_realm text, p_first bigint, p_last bigint, p_types text[])
        returns void language plpgsql as $$
        begin
            insert into urd.\(name)_{build}
                select e.realm, e.position, (e.data ->> 'number')::integer
                from urd.event e
                where e.realm = p_realm and e.position between p_first and p_last;
        end $$;
        -- section: finish
        -- section: readers
        create or replace view urd.\(name) as select * from urd.\(name)_{build};
        """
    guard let projection = Projection(name: name, file: file) else {
        preconditionFailure("The test's projection must be one.")
    }
    return projection
}

/// Events with a number each.
func numbered(_ numbers: [Int]) -> [Happening] {
    numbers.map {
        Happening(
            "thing.happened", UUID(high: 0, low: UInt64($0)), version: 1, #"{"number":\#($0)}"#)
    }
}

@Suite struct `A projection that cannot apply an event` {
    let clients = Projection.all.filter { $0.name == "clients" }

    @Test
    func `a projection that cannot apply an event halts there, while the log and others go on`()
        throws
    {
        let world = try World(clients + [fragile(.inline)])
        try world.append(numbered([1, 2, 3]), in: "one")
        try world.append(numbered([4, 5, 99, 6, 7]), in: "one")
        try world.append(numbered([8]), in: "one")
        try world.append(numbered([1]), in: "two")
        let status = try #require(try world.status("fragile", "one"))
        #expect(status.state == .halted)
        #expect(status.position == 5)
        #expect(status.head == 9)
        #expect(status.halt?.position == 6)
        #expect(try world.rows("fragile_1").count == 6)
        #expect(try world.status("fragile", "two")?.state == .attached)
        #expect(try world.status("clients", "one")?.lag == 0)
    }

    @Test func `a halted projection says why without the event's content`() throws {
        let world = try World([fragile(.inline)])
        try world.append(
            [
                Happening(
                    "thing.happened", .zero, version: 1, #"{"number":"Ms Canary, 17 High Street"}"#)
            ], in: "one")
        let why = try #require(try world.status("fragile", "one")?.halt?.why)
        #expect(why.hasPrefix("22P02"))
        #expect(!why.contains("Canary"))
        try world.append(numbered([99]), in: "two")
        let other = try #require(try world.status("fragile", "two")?.halt?.why)
        #expect(other.contains("23514"))
        #expect(other.contains("number_is_small"))
    }

    @Test func `a halted projection does not skip the event on later pages, and retries it`() throws
    {
        let world = try World([fragile(.following)])
        try world.append(numbered([1, 2, 99, 3, 4]), in: "one")
        let first = try Step.project("one", "fragile", 1, page: 2, world.owner)
        #expect(first?.position == 2)
        #expect(first?.halted == nil)
        for _ in 0..<3 {
            let step = try Step.project("one", "fragile", 1, page: 2, world.owner)
            #expect(step?.position == 2)
            #expect(step?.halted?.position == 3)
        }
        #expect(try world.rows("fragile_1").count == 2)
        // The poison goes: here the check, in life a new release.
        try world.owner.run("alter table urd.fragile_1 drop constraint number_is_small")
        let step = try Step.project("one", "fragile", 1, page: 100, world.owner)
        #expect(step?.halted == nil)
        #expect(try world.rows("fragile_1").count == 5)
        #expect(try world.status("fragile", "one")?.halt == nil)
    }

    @Test func `a halted projection resumes once a build can apply the event`()
        async throws
    {
        let world = try World(clients + [fragile(.inline)])
        try world.append(numbered([1, 99, 2]), in: "one")
        #expect(try world.status("fragile", "one")?.state == .halted)
        let mended = fragile(.inline, limit: 100)
        #expect(try world.engine(clients + [mended]).pending() == ["fragile"])
        #expect(try world.engine(clients + [mended]).migrate() == ["fragile"])
        #expect(try world.status("fragile", "one")?.state == .attached)
        try world.append(numbered([3]), in: "one")
        #expect(try world.status("fragile", "one")?.lag == 0)
        #expect(try world.rows("fragile").count == 4)
    }

    @Test func `a halted projection is resumed by the follower when the cause goes away`()
        async throws
    {
        let world = try World([
            fragile(.inline), fragile(.following, name: "frail"),
            fragile(.following, name: "firm", limit: 100),
        ])
        try world.append(numbered([1, 99, 2]), in: "one")
        let hub = CommitHub()
        let metrics = Metrics()
        let follower = ProjectionFollower(world.pool, hub: hub, metrics: metrics)
        let running = Task { try await follower.run() }
        defer { running.cancel() }
        hub.publish(Head(epoch: 1, position: 3), of: try #require(RealmID("one")))
        try await eventually { try world.status("frail", "one")?.state == .halted }
        try await eventually {
            metrics.render().contains(#"urd_projection_halted_realms{projection="fragile"} 1"#)
                && metrics.render().contains(
                    #"urd_projection_halted_realms{projection="frail"} 1"#)
        }
        for table in ["fragile_1", "frail_1"] {
            try world.owner.run("alter table urd.\(table) drop constraint number_is_small")
        }
        try await eventually {
            try world.status("fragile", "one")?.state == .attached
                && world.status("frail", "one")?.lag == 0
        }
        #expect(try world.rows("fragile_1").count == 3)
        #expect(try world.rows("frail_1").count == 3)
        try await eventually {
            metrics.render().contains(#"urd_projection_halted_realms{projection="fragile"} 0"#)
                && metrics.render().contains(#"urd_projection_lag_events{projection="frail"} 0"#)
        }
    }

    @Test func `a halted new build leaves the live build alone`() throws {
        let world = try World([fragile(.inline, limit: 100)])
        try world.append(numbered([1, 99, 2]), in: "one")
        let worse = fragile(.inline, limit: 50)
        do {
            _ = try world.engine([worse]).migrate()
            Issue.record("a build that halts must not become live")
        } catch ProjectionFailure.halted(let name, let realm, let position, _) {
            #expect(name == "fragile")
            #expect(realm == "one")
            #expect(position == 2)
        }
        #expect(try world.live("fragile") == 1)
        #expect(try world.status("fragile", "one")?.state == .attached)
        #expect(try world.value("to_regclass('urd.fragile_2')") == "null")
    }

    @Test func `a projection does not halt at an outage of the database`() throws {
        let world = try World([fragile(.inline)])
        try world.append(numbered([1]), in: "one")
        let blocker = try Connection(world.database.superuser)
        try blocker.run("begin; lock table urd.fragile_1 in access exclusive mode")
        try world.superuser.run("set lock_timeout = '50ms'")
        #expect(throws: Postgres.Failure.self) { try world.append(numbered([2]), in: "one") }
        try blocker.run("rollback")
        #expect(try world.status("fragile", "one")?.state == .attached)
        #expect(try world.status("fragile", "one")?.head == 1)
        try world.append(numbered([2]), in: "one")
        #expect(try world.rows("fragile_1").count == 2)
    }

    @Test func `a projection halts at a hole in the log`() throws {
        let world = try World([fragile(.following)])
        try world.append(numbered([1, 2, 3, 4, 5]), in: "one")
        try world.superuser.run(
            """
            set session_replication_role = replica;
            delete from urd.event where realm = 'one' and position = 3;
            set session_replication_role = origin
            """)
        let step = try Step.project("one", "fragile", 1, page: 100, world.owner)
        #expect(step?.position == 2)
        #expect(step?.halted == Step.Halt(position: 3, why: "the log has a hole"))
    }
}

/// Waits for something that another task is about to do.
func eventually(
    _ limit: Duration = .seconds(20), _ condition: () throws -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("it never came", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
