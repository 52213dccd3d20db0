import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Erasing a subject` {
    private let first = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_0001)
    private let second = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_0002)

    private func path(_ subject: UUID) -> String {
        "/api/admin/realms/acme/subjects/\(subject)/erase"
    }

    @Test func `destroys its key and says where the log tells of it`() async throws {
        let world = try await World()
        let answer = try await world.send(.post, path(first))
        #expect(answer.status == .ok)
        #expect(world.destroyed.all == [first])
    }

    @Test func `leaves the keys alone that the realm signs with`() async throws {
        let world = try await World()
        #expect(try await world.send(.post, path(SigningKeys.stream)).status == .badRequest)
        #expect(world.destroyed.all.isEmpty)
    }

    @Test func `is refused where it is an account, which would live on without its key`()
        async throws
    {
        let world = try await World()
        let account = try await world.person("ada@example.org")
        let refused = try await world.send(.post, path(account))
        #expect(refused.status == .badRequest && refused.problem == .invalidParameter)
        #expect(refused.json["detail"]?.string?.contains("urd account erase") == true)
        #expect(world.destroyed.all.isEmpty)
        #expect(try await world.events().last?.name != "realm.subject_erased")
        // It is erased as an account, and then it is like any other subject.
        let erased = try await world.send(
            .post, "/api/admin/realms/acme/accounts/\(account)/erase")
        #expect(erased.status == .ok && world.destroyed.all.contains(account))
        #expect(try await world.send(.post, path(account)).status == .ok)
    }

    @Test func `under a key that stood for another subject destroys nothing`() async throws {
        let world = try await World()
        let erased = try await world.send(.post, path(first), idempotencyKey: "k")
        #expect(erased.status == .ok)
        let refused = try await world.send(.post, path(second), idempotencyKey: "k")
        #expect(refused.problem == .idempotencyKeyReused)
        #expect(world.destroyed.all == [first])
    }

    @Test func `in a realm that is not there destroys nothing`() async throws {
        let world = try await World()
        let refused = try await world.send(
            .post, "/api/admin/realms/nowhere/subjects/\(first)/erase")
        #expect(refused.problem == .noSuchRealm)
        #expect(world.destroyed.all.isEmpty)
    }

    @Test func `by an admin of another realm destroys nothing`() async throws {
        let world = try await World()
        try await world.make("/api/admin/realms", ["realm": "other", "display_name": "Other"])
        let refused = try await world.send(
            .post, "/api/admin/realms/other/subjects/\(first)/erase", key: world.narrowKey)
        #expect(refused.problem == .forbidden)
        #expect(world.destroyed.all.isEmpty)
    }
}
