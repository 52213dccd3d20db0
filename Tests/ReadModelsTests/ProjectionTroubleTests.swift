import EventStore
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

/// What a health check asks: often, and of every node.
@Suite struct `What is wrong with read models` {
    private let world: World
    private static let realms = 2000

    init() throws {
        world = try World()
        try world.superuser.run(
            """
            set session_replication_role = replica;
            insert into urd.realm_log (realm, position, attached)
                select 'r' || i, 100, array(
                    select b.projection || '_' || b.build from urd.projection_build b
                    where b.inline and b.status = 'live' order by 1)
                from generate_series(1, \(Self.realms)) i;
            insert into urd.projection_position (realm, projection, build, position, attached)
                select h.realm, b.projection, b.build, 100, b.inline
                from urd.realm_log h cross join urd.projection_build b;
            set session_replication_role = origin;
            -- All rows, so that the plan does not depend on a sample.
            set default_statistics_target = 2000;
            analyze urd.realm_log; analyze urd.projection_position
            """)
    }

    private func troubles(lag: Int64 = 10_000) throws -> [String: ProjectionTrouble.Trouble] {
        let found = try ProjectionTrouble.read(lag: lag, Connection(world.database.application))
        #expect(found.count == Projection.all.count)
        return found.reduce(into: [:]) { $0[$1.projection] = $1.trouble }
    }

    @Test func `a check reads no row for each realm and read model`() throws {
        let touched = try world.superuser.transaction { connection throws(Postgres.Failure) in
            let found = try ProjectionTrouble.read(lag: 10_000, connection)
            #expect(found.allSatisfy { $0.trouble == nil })
            let rows = try connection.executeOnce(
                """
                select coalesce(sum(seq_tup_read), 0)::int8 + coalesce(sum(idx_tup_fetch), 0)::int8
                from pg_stat_xact_all_tables
                where schemaname = 'urd' and relname = 'projection_position'
                """, Parameters())
            return rows.int64(0, 0)
        }
        #expect(touched < 100)
    }

    @Test func `each kind of trouble is found in the realm that has it`() throws {
        #expect(try troubles().isEmpty)
        try world.superuser.run(
            """
            update urd.projection_position set attached = false, halted_at = 51, halted_why = 'XX000',
                halted_since = now() where realm = 'r7' and projection = 'sessions';
            update urd.projection_position set position = 40
                where realm = 'r8' and projection = 'audit_trail';
            update urd.projection_position set position = 30
                where realm = 'r9' and projection = 'audit_trail';
            delete from urd.projection_position where realm = 'r10' and projection = 'daily_counts';
            update urd.realm_log set attached = array_remove(attached, 'clients_1') where realm = 'r11';
            update urd.projection_position set attached = false, position = 105
                where realm = 'r12' and projection = 'accounts'
            """)
        #expect(
            try troubles(lag: 50) == [
                "sessions": .halted(realm: "r7", position: 51, why: "XX000"),
                "audit_trail": .behind(realm: "r9", events: 70),
                "daily_counts": .behind(realm: "r10", events: 100),
                "clients": .behind(realm: "r11", events: 0),
                "accounts": .behind(realm: "r12", events: -5),
            ])
        // The lag of those that follow is a matter of degree.
        #expect(
            try troubles(lag: 70).keys.sorted() == [
                "accounts", "clients", "daily_counts", "sessions",
            ])
    }
}
