import EventStore
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

@Suite struct `The cost of append` {
    /// The session keeps the plans that it made while everything was empty.
    @Test func `the cost of append does not grow with the log or with the read models`() throws {
        let world = try World()
        var history = RandomHistory(seed: 21)
        for _ in 0..<10 { try world.append(history.events(64), in: "one") }
        let few = try touched(world, &history)
        try grow(world, by: 20_000)
        let many = try touched(world, &history)
        for (relation, rows) in many {
            let before = few[relation] ?? 0
            #expect(
                rows <= before * 2 + 64,
                "\(relation) read \(rows) rows, with little in it \(before)")
        }
        #expect(many["event"] != nil)
        #expect(many["clients_1"] != nil)
    }

    /// Rows that one batch reads, by relation. A scan of a whole one is a failure by itself.
    private func touched(
        _ world: World, _ history: inout RandomHistory
    ) throws -> [String: Int64] {
        let events = history.events(64)
        // What earlier transactions counted is not of this one.
        try world.superuser.run("select pg_stat_force_next_flush()")
        let rows = try world.superuser.transaction { connection throws(Postgres.Failure) in
            try World.appendWithin(events, in: "one", connection)
            return try connection.executeOnce(
                """
                select relname::text, seq_scan, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
                from pg_stat_xact_all_tables
                where schemaname = 'urd' and relname !~ '^(projection|realm)_'
                    and coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0
                """, Parameters())
        }
        var touched: [String: Int64] = [:]
        for row in 0..<rows.count {
            let relation = rows.text(row, 0)
            #expect(rows.int64(row, 1) == 0, "\(relation) was scanned from end to end")
            touched[relation] = rows.int64(row, 2)
        }
        return touched
    }

    /// Clients and other events by the thousand, in both tables that a batch looks into.
    private func grow(_ world: World, by count: Int) throws {
        let other = try Connection(world.database.superuser)
        try other.run(
            """
            begin;
            insert into urd.event (
                realm, position, stream, version, type, revision, at, command, leaf, mac, meta, data)
            select 'one', h.position + n, gen_random_uuid(), 1, 'client.registered', 1, now(),
                gen_random_uuid(), sha256(int8send(n)), '', '{"actor":"system"}',
                format('{"client_id":"g%s","token_endpoint_auth_method":"none"}', n)::json
            from urd.realm_log h, generate_series(1, \(count)) n where h.realm = 'one';
            select urd.apply_inline(
                    'one', h.position + 1, h.position + \(count), '{client.registered}',
                    h.attached)
                from urd.realm_log h where h.realm = 'one';
            update urd.realm_log set position = position + \(count) where realm = 'one';
            commit
            """)
    }
}

@Suite struct `A read model whose position is locked` {
    @Test func `a read model whose position is locked moves with the log`() async throws {
        let world = try World()
        var history = RandomHistory(seed: 22)
        try world.append(history.events(10), in: "one")
        let holder = try Connection(world.database.superuser)
        try holder.run(
            """
            begin; select 1 from urd.projection_position where projection = 'clients' for update
            """)
        try world.append(history.events(10), in: "one")
        #expect(try world.status("clients", "one")?.state == .attached)
        #expect(try world.status("clients", "one")?.position == 20)
        try holder.run("rollback")
        guard case .equal = try world.engine().verify("clients") else {
            Issue.record("it drifted")
            return
        }
    }
}
