import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

@Suite struct `Followers of the log` {
    private func store(_ world: World) -> PostgresLog {
        PostgresLog(world.pool, keyring: Keyring(world.pool, master: .generate()))
    }

    private func register(
        _ name: String, in realm: RealmID, _ log: PostgresLog
    ) async throws -> Positions {
        var random = SystemRandomNumberGenerator()
        let stream = UUID.v7(at: Timestamp(microseconds: 1), using: &random)
        let origin = Origin(
            actor: "admin:tester", client: "console", at: Timestamp(microseconds: 5))
        let decision = Decision(
            ClientEvent.registered(
                clientID: name,
                metadata: try ClientMetadata([
                    "grant_types": ["client_credentials"],
                    "contacts": ["canary@person.example"],
                ]),
                secret: SecretDigest([UInt8](repeating: 1, count: 32))), in: stream)
        let outcome = try await log.append(
            Commit(
                realm: realm, command: UUID.v7(at: Timestamp(microseconds: 2), using: &random),
                origin: origin, reads: [stream: 0], events: decision.events))
        guard case .won(let positions) = outcome else {
            throw Lost()
        }
        return positions
    }

    struct Lost: Error {}

    @Test func `the audit trail has every event soon after its commit`() async throws {
        let world = try World()
        let log = store(world)
        defer { log.close() }
        let realm = try #require(RealmID("one"))
        let follower = ProjectionFollower(world.pool, hub: log.hub)
        let running = Task { try await follower.run() }
        defer { running.cancel() }
        let queries = world.queries
        #expect(try await FollowedPosition.read(.auditTrail, realm, world.pool) == nil)
        let first = try await register("a", in: realm, log)
        let second = try await register("b", in: realm, log)
        let reached = try await queries.reaches(
            .auditTrail, second.last, epoch: second.epoch, of: realm, within: .seconds(20))
        let end = second.last
        #expect(
            reached == .yes(FollowedPosition(epoch: second.epoch, position: end, head: end)))
        #expect(
            try await queries.ask(FollowedPosition.now, .auditTrail, in: realm)
                == FollowedPosition(epoch: second.epoch, position: end, head: end))
        let page = try await queries.ask(
            AuditEntry.trail, (AuditSelection(), after: nil, limit: 10), in: realm)
        #expect(page.map(\.position) == [first.first, second.first])
        #expect(page.first?.actor == "admin:tester")
        #expect(page.first?.client == "console")
        #expect(page.first?.fields["client_id"] == "a")
        #expect(page.first?.fields["contacts"] == nil)
        #expect(
            try await queries.ask(
                AuditEntry.trail, (AuditSelection(actor: "nobody"), after: nil, limit: 10),
                in: realm
            ).isEmpty)
        #expect(
            try await queries.ask(
                AuditEntry.trail,
                (AuditSelection(stream: #require(page.last).stream), after: nil, limit: 10),
                in: realm
            ).count
                == 1)
        // A position of another epoch never comes, one ahead of the log not in time.
        #expect(
            try await queries.reaches(
                .auditTrail, second.last, epoch: second.epoch + 1, of: realm, within: .seconds(1))
                == .never)
        #expect(
            try await queries.reaches(
                .auditTrail, second.last + 1, epoch: second.epoch, of: realm,
                within: .milliseconds(30))
                == .notYet(FollowedPosition(epoch: second.epoch, position: end, head: end)))
        // Personal data is in no read model.
        for table in ["clients_1", "audit_trail_1"] {
            #expect(try !world.rows(table).contains { $0.contains("canary") })
        }
        try await eventually {
            try world.rows("daily_counts") == ["(one,1970-01-01,client.registered,2)"]
        }
        #expect(try await world.queries.ask(ClientView.byClientID, "b", in: realm)?.clientID == "b")
    }

    @Test func `a subscriber gets each event once, in order`() async throws {
        let world = try World()
        let log = store(world)
        defer { log.close() }
        let realm = try #require(RealmID("one"))
        _ = try await register("a", in: realm, log)
        _ = try await register("b", in: realm, log)
        let following = Task {
            var names: [JSON?] = []
            for try await event in LogFollower(log, hub: log.hub, realm: realm, from: 2, page: 1) {
                names.append(event.open["client_id"])
                if names.count == 3 { break }
            }
            return names
        }
        _ = try await register("c", in: realm, log)
        _ = try await register("d", in: realm, log)
        #expect(try await following.value == ["b", "c", "d"])
    }

    @Test func `a subscriber may ask for some types, and for past events`() async throws {
        let world = try World()
        let log = store(world)
        defer { log.close() }
        let realm = try #require(RealmID("one"))
        _ = try await register("a", in: realm, log)
        try world.append([Happening("other.thing", .zero, version: 1)], in: "one")
        _ = try await register("b", in: realm, log)
        var positions: [Int64] = []
        for try await event in LogFollower(
            log, hub: log.hub, realm: realm, types: ["client.registered"], endsAtHead: true)
        {
            positions.append(event.position)
        }
        #expect(positions == [1, 3])
    }

    @Test func `a cancelled subscriber ends`() async throws {
        let world = try World()
        let log = store(world)
        defer { log.close() }
        let realm = try #require(RealmID("one"))
        let following = Task {
            for try await _ in LogFollower(log, hub: log.hub, realm: realm) {}
            return true
        }
        following.cancel()
        #expect(try await following.value)
    }

    @Test func `a hole in the log raises an alarm and is never skipped`() async throws {
        let world = try World()
        let log = store(world)
        defer { log.close() }
        let realm = try #require(RealmID("one"))
        for name in ["a", "b", "c"] { _ = try await register(name, in: realm, log) }
        try world.superuser.run(
            """
            set session_replication_role = replica;
            delete from urd.event where realm = 'one' and position = 2
            """)
        var seen: [Int64] = []
        do {
            for try await event in LogFollower(
                log, hub: log.hub, realm: realm, page: 1, endsAtHead: true)
            {
                seen.append(event.position)
            }
            Issue.record("the hole was not seen")
        } catch {
            #expect(error == .hole(at: 2))
        }
        #expect(seen == [1])
    }
}
