import EventSourcing
import EventStore
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

/// One entry each second, of three actors and two kinds of clients' and realms' events.
@Suite struct `A question to the audit trail` {
    private static let many: Int64 = 60_000
    private static let begin: Int64 = 1_790_000_000
    private let realm = RealmID("one")!

    @Test
    func `an audit query returns the events that meet all its conditions, in the given order`()
        async throws
    {
        let queries = try grown().queries
        var asked = AuditSelection()
        #expect(try await positions(queries, asked) == [1, 2, 3, 4])
        asked.isNewestFirst = true
        #expect(try await positions(queries, asked) == [60_000, 59_999, 59_998, 59_997])
        #expect(
            try await positions(queries, asked, after: 59_998) == [59_997, 59_996, 59_995, 59_994])
        asked.until = moment(40_000)
        #expect(try await positions(queries, asked) == [39_999, 39_998, 39_997, 39_996])
        asked.actor = "admin:1"
        #expect(try await positions(queries, asked) == [39_997, 39_994, 39_991, 39_988])
        asked.isNewestFirst = false
        asked.since = moment(39_990)
        #expect(try await positions(queries, asked) == [39_991, 39_994, 39_997])
        #expect(try await positions(queries, asked, after: 39_991) == [39_994, 39_997])
        asked.type = "client"
        #expect(try await positions(queries, asked) == [39_994])
        asked.type = "client.deleted"
        #expect(try await positions(queries, asked) == [39_994])
        for nothing in ["client.", "clien", "client.delete", "%", "_lient"] {
            asked.type = nothing
            #expect(try await positions(queries, asked).isEmpty, "\(nothing)")
        }
        (asked.type, asked.actor) = (nil, nil)
        (asked.since, asked.until) = (moment(1), moment(2))
        #expect(try await positions(queries, asked) == [1])
        for (since, until) in [(Self.many + 1, nil), (nil, 1), (7, 7), (9, 8)] as [(Int64?, Int64?)]
        {
            (asked.since, asked.until) = (since.map(moment), until.map(moment))
            #expect(try await positions(queries, asked).isEmpty)
        }
        (asked.since, asked.until) = (Timestamp(seconds: -62_167_219_200), moment(3))
        #expect(try await positions(queries, asked) == [1, 2])
        let other = try #require(RealmID("two"))
        #expect(
            try await queries.ask(AuditEntry.trail, (asked, after: nil, limit: 4), in: other)
                .isEmpty)
    }

    /// Two nodes whose clocks are not the same.
    @Test func `an audit query finds events at positions before one of an earlier time`()
        async throws
    {
        let world = try grown()
        try world.superuser.run(
            """
            update urd.audit_trail_1 set at = at + interval '50 seconds' where position % 2 = 0
            """)
        var asked = AuditSelection()
        (asked.since, asked.until) = (moment(30_000), moment(30_004))
        #expect(
            try await positions(world.queries, asked) == [29_950, 29_952, 30_001, 30_003])
    }

    @Test func `an audit query with a time does not read earlier events`() async throws {
        let world = try grown()
        for isNewestFirst in [false, true] {
            for actor in [nil, "admin:1"] {
                var asked = AuditSelection(actor: actor)
                asked.isNewestFirst = isNewestFirst
                (asked.since, asked.until) = (moment(40_000), moment(50_000))
                let rows = try await read(asked, in: world, finding: 50)
                #expect(rows > 0 && rows < 8 * 400, "\(rows) rows were read for \(asked)")
            }
        }
    }

    @Test func `an audit query with a rare type does not read the common types`() async throws {
        let world = try grown()
        try world.superuser.run(
            """
            update urd.audit_trail_1 set type = case when position % 2 = 0
                then 'session.refreshed' else 'otp.issued' end where position % 6000 <> 0;
            -- From all rows: of a sample it depends whether ten of sixty thousand are in it.
            alter table urd.audit_trail_1 alter column type set statistics 1000;
            analyze urd.audit_trail_1;
            """)
        for isNewestFirst in [false, true] {
            for (type, count) in [("client", 10), ("client.deleted", 10), ("realm", 0)] {
                var asked = AuditSelection()
                asked.isNewestFirst = isNewestFirst
                asked.type = type
                let rows = try await read(asked, in: world, finding: count)
                #expect(rows < 8 * 20, "\(rows) rows were read for \(asked)")
            }
            var asked = AuditSelection()
            asked.isNewestFirst = isNewestFirst
            asked.type = "otp"
            #expect(try await read(asked, in: world, finding: 50) < 8 * 400)
        }
    }

    /// How many rows are read by eight times the same question, which is when plans have settled.
    private func read(
        _ asked: AuditSelection, in world: World, finding count: Int
    ) async throws -> Int64 {
        let before = try counted(world)
        let pool = Database(world.database.application, connections: 1)
        let queries = ReadModelQueries(pool, hub: CommitHub())
        for _ in 0..<8 {
            #expect(
                try await queries.ask(AuditEntry.trail, (asked, after: nil, limit: 50), in: realm)
                    .count == count
            )
        }
        pool.close()
        // What a connection has counted is told when it ends.
        let deadline = ContinuousClock.now + .seconds(20)
        while try world.value(
            """
            select count(*) from pg_stat_activity
            where usename = 'urd_app' and datname = current_database()
            """) != "0", ContinuousClock.now < deadline
        {
            try await Task.sleep(for: .milliseconds(5))
        }
        return try counted(world) - before
    }

    private func positions(
        _ queries: ReadModelQueries, _ selection: AuditSelection, after position: Int64? = nil
    ) async throws -> [Int64] {
        try await queries.ask(AuditEntry.trail, (selection, after: position, limit: 4), in: realm)
            .map(
                \.position)
    }

    private func moment(_ position: Int64) -> Timestamp {
        Timestamp(seconds: Self.begin + position)
    }

    private func counted(_ world: World) throws -> Int64 {
        // What this connection has counted itself is told at once, and not in the middle of a question.
        try world.superuser.run("select pg_stat_force_next_flush()")
        return try world.superuser.executeOnce(
            """
            select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint
            from pg_stat_all_tables where relname = 'audit_trail_1'
            """, Parameters()
        ).int64(0, 0)
    }

    private func grown() throws -> World {
        let world = try World()
        try world.superuser.run(
            """
            insert into urd.audit_trail_1 (realm, position, at, stream, type, actor)
                select 'one', n, to_timestamp(\(Self.begin) + n), gen_random_uuid(),
                    case n % 2 when 0 then 'client.deleted' else 'realm.settings_changed' end,
                    'admin:' || n % 3
                from generate_series(1, \(Self.many)) n;
            analyze urd.audit_trail_1;
            """)
        return world
    }
}
