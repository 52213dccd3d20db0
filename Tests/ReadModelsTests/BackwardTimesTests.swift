import EventSourcing
import EventStore
import JSON
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `A client that many change at once, at nodes whose clocks differ` {
    /// In one batch of the committer there are several of its events, each earlier than the one before.
    @Test func `a client's update time is that of the last event, live and rebuilt`() async throws {
        let world = try World()
        let log = PostgresLog(
            world.pool, keyring: Keyring(world.pool, master: .generate()), lanes: 1)
        defer { log.close() }
        let changes = try Changes(log)
        guard case .won = try await changes.commit("client.registered", 0) else {
            Issue.record("it was not registered")
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for version in 1...50 {
                group.addTask {
                    // Until those before it are on record.
                    while try await changes.commit("client.updated", version) == .conflict {}
                }
            }
            try await group.waitForAll()
        }
        let last = """
            select c.changed_at = e.at from urd.clients c
            join urd.event e on e.realm = c.realm and e.stream = c.client and e.version = 51
            """
        #expect(try world.value(last) == "true")
        for projection in ["clients", "configurations", "audit_trail"] {
            guard case .equal = try world.engine().rebuild(projection) else {
                Issue.record("\(projection) drifted")
                continue
            }
        }
        #expect(try world.value(last) == "true")
    }

    private struct Changes {
        let log: PostgresLog
        let realm: RealmID
        let client = UUID(high: 1, low: 2)

        init(_ log: PostgresLog) throws {
            self.log = log
            realm = try #require(RealmID("one"))
        }

        func commit(_ name: String, _ version: Int) async throws -> AppendOutcome {
            var random = SystemRandomNumberGenerator()
            let at = Timestamp(seconds: 1_790_000_000 - Int64(version) * 3600)
            return try await log.append(
                Commit(
                    realm: realm, command: .v7(at: at, using: &random),
                    origin: Origin(actor: "system", at: at), reads: [client: version],
                    events: [
                        NewEvent(
                            stream: client, name: name, revision: 1, subject: nil,
                            open: [
                                "client_id": "c", "client_name": .string("Name \(version)"),
                                "token_endpoint_auth_method": "none",
                            ], personal: [:])
                    ]))
        }
    }
}
