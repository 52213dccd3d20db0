import Postgres
import PostgresTesting
import Testing
import Threads
import Values

@testable import ReadModels

@Suite struct `Builds come and go` {
    @Test func `every projection gets a live build, once`() throws {
        let world = try World(migrated: false)
        let names = Projection.all.map(\.name)
        #expect(try world.engine().pending() == names)
        #expect(try world.engine().migrate() == names)
        #expect(try world.engine().migrate() == [])
        for name in names { #expect(try world.live(name) == 1) }
    }

    @Test func `a changed statement rebuilds a projection, and a changed comment does not`() throws
    {
        let world = try World([fragile(.inline)])
        #expect(try world.engine([fragile(.inline)]).pending() == [])
        #expect(try world.engine([fragile(.inline, limit: 11)]).pending() == ["fragile"])
        let one = Projection(name: "a", file: file("-- why\nselect 1;"))
        let other = Projection(name: "a", file: file("-- because\nselect 1;"))
        let third = Projection(name: "a", file: file("-- why\nselect 2;"))
        #expect(one?.definition == other?.definition)
        #expect(one?.definition != third?.definition)
    }

    private func file(_ apply: String) -> String {
        """
        -- kind: inline
        -- section: tables
        -- section: apply
        \(apply)
        -- section: finish
        -- section: readers
        """
    }

    @Test func `the build before the live one can be restored, however old it is`() throws {
        let world = try World([fragile(.inline)])
        try world.append(numbered([1, 2]), in: "one")
        let next = fragile(.inline, limit: 20)
        _ = try world.engine([next]).migrate()
        try world.append(numbered([3]), in: "one")
        try world.append(numbered([4]), in: "two")
        #expect(try world.rows("fragile_1").count == 2)
        #expect(try world.engine([next]).rollback("fragile") == 1)
        #expect(try world.live("fragile") == 1)
        #expect(try world.rows("fragile").count == 4)
        try world.append(numbered([5]), in: "one")
        #expect(try world.rows("fragile").count == 5)
        #expect(try world.status("fragile", "one")?.state == .attached)
        // And back again.
        #expect(try world.engine([next]).rollback("fragile") == 2)
        #expect(try world.rows("fragile").count == 5)
    }

    @Test func `without an earlier build nothing is restored`() throws {
        let world = try World([fragile(.inline)])
        #expect(throws: ProjectionFailure.nothingToRollBack("fragile")) {
            try world.engine([fragile(.inline)]).rollback("fragile")
        }
    }

    @Test func `one earlier build is kept, and no more`() throws {
        let world = try World([fragile(.inline)])
        for _ in 0..<3 { _ = try world.engine([fragile(.inline)]).rebuild("fragile") }
        #expect(try world.live("fragile") == 4)
        #expect(try world.value("to_regclass('urd.fragile_3') is not null") == "true")
        #expect(try world.value("to_regclass('urd.fragile_2')") == "null")
        #expect(
            try world.value(
                "select count(*) from pg_proc where proname like 'fragile\\_%'") == "2")
    }

    @Test func `views may change their columns`() throws {
        let world = try World([fragile(.inline)])
        try world.append(numbered([1]), in: "one")
        var text = """
            -- kind: inline
            -- section: tables
            create table urd.fragile_{build} (realm text primary key, events bigint not null);
            -- section: apply
            create function urd.fragile_{build}_apply(p_realm text, p_first bigint, p_last bigint, p_types text[])
            returns void language plpgsql as $$
            begin
                insert into urd.fragile_{build} as f values (p_realm, p_last - p_first + 1)
                    on conflict (realm) do update set events = f.events + excluded.events;
            end $$;
            -- section: finish

            """
        text += """
            -- section: readers
            create or replace view urd.fragile as
                select f.events, f.realm from urd.fragile_{build} f;
            """
        let changed = try #require(Projection(name: "fragile", file: text))
        _ = try world.engine([changed]).migrate()
        #expect(try world.rows("fragile") == ["(1,one)"])
    }

    @Test func `a projection that the binary no longer knows is dropped`() throws {
        let world = try World([fragile(.inline), fragile(.inline, name: "frail")])
        _ = try world.engine([fragile(.inline)]).migrate()
        #expect(try world.value("to_regclass('urd.frail_1')") == "null")
        #expect(try world.value("to_regclass('urd.frail')") == "null")
        try world.append(numbered([1]), in: "one")
        #expect(try world.rows("fragile").count == 1)
    }

    @Test func `a rebuild that is killed half-way does not disturb the next one`() throws {
        let world = try World([slow()])
        try world.append(numbered(Array(1...5)), in: "one")
        let engine = world.engine([slow()])
        let done = Monitor(Result<Bool, any Error>?.none)
        DedicatedThread.startRequired {
            let result = Result { try engine.rebuild("slow") == .equal(rows: 5) }
            done.withLock { $0 = result }
            done.wakeAll()
        }
        // While it fills, its connections are taken away.
        let deadline = ContinuousClock.now + .seconds(20)
        let killing = """
            select count(pg_terminate_backend(pid)) from pg_stat_activity
            where application_name = 'urd projections' and datname = current_database()
                and exists (select from pg_stat_activity a where a.datname = current_database()
                    and a.query like '%urd.project(%' and a.wait_event = 'PgSleep')
            """
        while try world.value(killing) == "0", ContinuousClock.now < deadline {}
        let result = done.wait { $0 }
        #expect(throws: Postgres.Failure.self) { try result.get() }
        // Whoever was not killed at once may still have cleared up.
        #expect([2, nil].contains(try Builds.number(of: "slow", "building", world.superuser)))
        #expect(try world.live("slow") == 1)
        // Append goes on, into the live build and into the one that nobody wants any more.
        try world.append(numbered([6]), in: "one")
        #expect(try world.status("slow", "one")?.state == .attached)
        #expect(try engine.rebuild("slow") == .equal(rows: 6))
        #expect(try Builds.number(of: "slow", "building", world.superuser) == nil)
    }

    /// Takes its time over a page, in a build after the first.
    private func slow() -> Projection {
        let file = """
            -- kind: inline
            -- section: tables
            create table urd.slow_{build} (realm text, position bigint, primary key (realm, position));
            -- section: apply
            create function urd.slow_{build}_apply(p_realm text, p_first bigint, p_last bigint, p_types text[])
            returns void language plpgsql as $$
            begin
                if {build} > 1 and p_last - p_first > 2 then perform pg_sleep(0.5); end if;
                insert into urd.slow_{build} select p_realm, generate_series(p_first, p_last);
            end $$;
            -- section: finish
            -- section: readers
            create or replace view urd.slow as select * from urd.slow_{build};
            """
        guard let projection = Projection(name: "slow", file: file) else {
            preconditionFailure("The test's projection must be one.")
        }
        return projection
    }

    @Test func `one process at a time works on a projection`() throws {
        let world = try World([fragile(.inline)])
        let other = try Connection(world.database.owner)
        try other.run("select urd.take_session_lock('projection fragile')")
        #expect(throws: ProjectionFailure.busy("fragile")) {
            try world.engine([fragile(.inline)]).rebuild("fragile")
        }
    }
}
