import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

@Suite struct `The log` {
    /// PostgreSQL looks through every table that has grown, and writes down where there is room: events
    /// that are small would be put where a large one did not fit, on pages as old as the log.
    @Test func `the log is not vacuumed for growth alone`() async throws {
        let cluster = try TestCluster(settings: [
            "autovacuum_naptime=1s", "autovacuum_vacuum_insert_threshold=100",
            "autovacuum_vacuum_insert_scale_factor=0", "autovacuum_vacuum_cost_delay=0",
        ])
        let store = try TestStore(cluster)
        defer { store.log.close() }
        let session = try await Session(store.database.superuser)
        let realm = newRealm()
        for round in 1...2 {
            try await grow(store, realm)
            try await eventually("commands were vacuumed for the \(round). time") {
                try await vacuums(of: "command", session) >= round
            }
        }
        #expect(try await vacuums(of: "event", session) == 0)
    }

    private func grow(_ store: TestStore, _ realm: RealmID) async throws {
        for _ in 1...150 {
            try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        }
    }

    private func vacuums(of table: String, _ session: Session) async throws -> Int {
        let text = try await session.text(
            """
            select autovacuum_count::text from pg_stat_user_tables
            where relid = 'urd.\(table)'::regclass
            """)
        return text.flatMap { Int($0) } ?? 0
    }
}
