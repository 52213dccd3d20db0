import EventSourcing
import EventStore
import Identity
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

/// Lists and searches over people, with many of them: none reads much more than it tells. A million rows
/// are no other case than these: what is read is counted, and no table is read from end to end.
@Suite struct `A question about people` {
    private static let many = 60_000

    @Test func `a query about people costs what its answer holds, for any number of people`()
        async throws
    {
        let world = try World()
        let realm = try #require(RealmID("one"))
        var history = RandomHistory(seed: 31)
        try world.append(history.events(64), in: "one")
        try grow(world)
        let (account, client) = (id(7), "c3")
        let now = Timestamp(seconds: 1_800_000_000)
        let since = Timestamp(seconds: 1_790_000_000)
        typealias Asked = @Sendable (ReadModelQueries) async throws -> Int
        let questions: [(String, Asked)] = [
            ("accounts", { try await $0.ask(AccountView.page, (nil, 50), in: realm).count }),
            (
                "account by mailbox",
                { try await $0.ask(AccountView.byMailbox, account, in: realm) == nil ? 0 : 1 }
            ),
            (
                "sessions",
                {
                    try await $0.ask(OpenSessionView.ofAccount, (account, now, nil, 50), in: realm)
                        .count
                }
            ),
            (
                "lapsed sessions",
                { try await LapsedSessions($0.database).page(at: now, limit: 50).count }
            ),
            ("deletions", { try await Deletions($0.database).due(at: now, limit: 50).count }),
            (
                "mails",
                {
                    try await $0.ask(DeliveryView.mails, (false, nil, 50), in: realm).count
                }
            ),
            (
                "failed mails",
                { try await $0.ask(DeliveryView.mails, (true, nil, 50), in: realm).count }
            ),
        ]
        for (name, ask) in questions { try await expectCheap(name, world, ask) }
        for chosen in [
            LoginSelection(), .init(account: account), .init(clientID: client),
            .init(account: account, clientID: client),
        ] {
            for isRefused in [nil, true, false] as [Bool?] {
                for (first, last) in [(nil, nil), (since, nil), (nil, now), (since, now)]
                    as [(Timestamp?, Timestamp?)]
                {
                    var selection = chosen
                    selection.isRefused = isRefused
                    (selection.since, selection.until) = (first, last)
                    let asked = selection
                    // Within one account it may look at all that the account did.
                    let spare = chosen.account == nil ? 64 : Self.many / 200 + 64
                    try await expectCheap("\(asked)", world, spare: spare) {
                        try await $0.ask(LoginView.history, (asked, nil, 50), in: realm).count
                    }
                }
            }
        }
    }

    /// What ends a session looks for it in a history of any length.
    @Test func `a page of the projections' follower costs what it holds`() throws {
        let world = try World()
        var history = RandomHistory(seed: 32)
        try world.append(history.events(64), in: "one")
        try grow(world)
        let events = history.events(256)
        let first = try #require(Int64(try world.value("select max(position) from urd.realm_log")))
        try world.append(events, in: "one")
        for name in ["login_history", "deletions", "event_index"] {
            let rows = try world.superuser.transaction { connection throws(Postgres.Failure) in
                // As the follower's functions have it.
                _ = try connection.run("set local plan_cache_mode = force_generic_plan")
                _ = try connection.run("set local enable_seqscan = off")
                try connection.executeOnce(
                    """
                    select urd.\(name)_1_apply('one', \(first + 1), \(first + 256), null)
                    """, Parameters())
                return try connection.executeOnce(
                    """
                    select seq_scan, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
                    from pg_stat_xact_all_tables where relname = '\(name)_1'
                    """, Parameters())
            }
            #expect(rows.int64(0, 0) == 0, "\(name) was read from end to end")
            #expect(rows.int64(0, 1) < 512, "\(name): \(rows.int64(0, 1)) rows were read")
        }
    }

    /// Asks often enough that the plan is one for all values, and counts the rows that were read.
    private func expectCheap(
        _ name: String, _ world: World, spare: Int = 64,
        _ ask: @Sendable (ReadModelQueries) async throws -> Int
    ) async throws {
        let before = try counted(world)
        let pool = Database(world.database.application, connections: 1)
        var told = 0
        let queries = ReadModelQueries(pool, hub: CommitHub())
        for _ in 0..<8 { told += try await ask(queries) }
        pool.close()
        // A session hands in what it counted when it ends.
        let sessions = """
            select count(*) from pg_stat_activity
            where usename = 'urd_app' and datname = current_database()
            """
        let deadline = ContinuousClock.now + .seconds(20)
        while try world.value(sessions) != "0", ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        let after = try counted(world)
        #expect(after.scans == before.scans, "\(name): a table was read from end to end")
        #expect(told > 0, "\(name): nothing was found")
        // Joins and partly used pages cost a few rows each.
        #expect(
            after.rows - before.rows <= Int64(told * 3 + 8 * spare),
            "\(name): \(after.rows - before.rows) rows were read for \(told)")
    }

    private func counted(_ world: World) throws -> (scans: Int64, rows: Int64) {
        // What this connection has counted itself is told at once, and not in the middle of a question.
        try world.superuser.run("select pg_stat_force_next_flush()")
        let rows = try world.superuser.executeOnce(
            """
            select sum(seq_scan)::bigint,
                sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint
            from pg_stat_all_tables
            where schemaname = 'urd'
                and relname ~ '^(accounts|sessions|deletions|mails|login_history)_'
            """, Parameters())
        return (rows.int64(0, 0), rows.int64(0, 1))
    }

    private func id(_ number: Int) -> UUID { UUID(high: 0x1000, low: UInt64(number)) }

    /// One in seven attempts failed; each account has a few hundred attempts; one in a hundred mails
    /// failed.
    private func grow(_ world: World) throws {
        try world.superuser.run(
            """
            create function pg_temp.id(n bigint) returns uuid language sql immutable as
                $$ select ('00000000-0000-1000-0000-' || lpad(to_hex(n), 12, '0'))::uuid $$;
            insert into urd.accounts_1 (realm, account, mailbox, confirmed, disabled, stamp, moves,
                    registered_at, changed_at, version)
                select 'one', pg_temp.id(n), pg_temp.id(n), true, false, 0, 0, now(), now(), 1
                from generate_series(1, \(Self.many)) n;
            insert into urd.sessions_1 (realm, session, account, terms, opened_at, generation,
                    version)
                select 'one', pg_temp.id(n), pg_temp.id(n % 200), '{"stamp":0,"client_id":"c",
                    "client":"00000000-0000-0000-0000-000000000001","scope":[],"resources":[],
                    "amr":[],"opened_at":1,"expires_at":1900000000,"offline":true}', now(), 0, 1
                from generate_series(1, \(Self.many)) n;
            insert into urd.sessions_1 (realm, session, account, terms, opened_at, generation,
                    announced, version)
                select 'one', pg_temp.id(100000 + n), pg_temp.id(n), '{"stamp":7,"client_id":"c",
                    "client":"00000000-0000-0000-0000-000000000001","scope":[],"resources":[],
                    "amr":[],"opened_at":1,"expires_at":1900000000,"offline":true,
                    "issuer":"https://a.example"}', now(), 0, true, 1
                from generate_series(1, 20) n;
            insert into urd.clients_1 (realm, client, client_id, metadata, disabled, registered_at,
                    changed_at, version)
                values ('one', '00000000-0000-0000-0000-000000000001', 'c',
                    '{"backchannel_logout_uri":"https://a.example/logout"}', false, now(), now(), 1);
            insert into urd.deletions_1 (realm, account, due_at)
                select 'one', pg_temp.id(n), to_timestamp(1790000000 + n)
                from generate_series(1, \(Self.many)) n;
            insert into urd.mails_1 (realm, mail, position, kind, failed, due_at)
                select 'one', pg_temp.id(n), n, 'otp.issued', n % 100 = 0, now()
                from generate_series(1, \(Self.many)) n;
            insert into urd.login_history_1 (realm, position, at, account, client, client_id,
                    outcome, session)
                select 'one', 1000000 + n, to_timestamp(1790000000 + n), pg_temp.id(n % 200),
                    pg_temp.id(n % 20), 'c' || n % 19,
                    case n % 7 when 0 then 'refused' else 'signed_in' end,
                    case n % 7 when 0 then null else pg_temp.id(n) end
                from generate_series(1, \(Self.many)) n;
            analyze;
            """)
    }
}
