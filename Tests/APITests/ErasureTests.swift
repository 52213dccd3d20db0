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

    @Test func `erasing a subject destroys its key and answers with the event's position`()
        async throws
    {
        let world = try await World()
        try await world.somethingSealed(under: first)
        let answer = try await world.send(.post, path(first))
        #expect(answer.status == .ok)
        #expect(world.destroyed.all == [first])
        let record = try #require(try await world.events().last)
        #expect(record.name == "realm.subject_erased")
        #expect(answer.json["position"] == .integer(record.position))
        // Whoever asks again hears when it was done, and it is not done again.
        try await world.somethingSealed(under: second)
        #expect(try await world.send(.post, path(second)).status == .ok)
        let again = try await world.send(.post, path(first))
        #expect(again.status == .ok && again.json == answer.json)
        let records = try await world.events().filter { $0.name == "realm.subject_erased" }
        #expect(records.count == 2)
    }

    @Test func `erasing a subject is refused where no event of the realm is sealed under it`()
        async throws
    {
        let world = try await World()
        let refused = try await world.send(.post, path(first))
        #expect(refused.status == .notFound && refused.problem == .noSuchSubject)
        #expect(world.destroyed.all.isEmpty)
        #expect(try await world.events().last?.name != "realm.subject_erased")
    }

    @Test func `erasing a subject is refused where its events belong to a shared subject`()
        async throws
    {
        let world = try await World()
        let refused = try await world.send(.post, path(World.shared))
        #expect(refused.status == .badRequest && refused.problem == .invalidParameter)
        #expect(refused.json["detail"]?.string?.contains("administration") == true)
        #expect(world.destroyed.all.isEmpty)
    }

    @Test func `erasing a subject never destroys the realm's signing keys`() async throws {
        let world = try await World()
        for stream in [
            SigningKeys.stream, Providers.stream, PushProviders.stream, MessageGateways.stream,
            IntegrityKeys.stream,
        ] {
            #expect(try await world.send(.post, path(stream)).status == .badRequest)
        }
        #expect(world.destroyed.all.isEmpty)
    }

    @Test func `erasing a subject is refused for an account, which would live on without its key`()
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
        let again = try await world.send(.post, path(account))
        #expect(again.status == .ok && again.json["position"] == erased.json["position"])
        #expect(try await !world.events().contains { $0.name == "realm.subject_erased" })
    }

    @Test func `erasing a subject under a reused idempotency key destroys nothing`() async throws {
        let world = try await World()
        for subject in [first, second] { try await world.somethingSealed(under: subject) }
        let erased = try await world.send(.post, path(first), idempotencyKey: "k")
        #expect(erased.status == .ok)
        let refused = try await world.send(.post, path(second), idempotencyKey: "k")
        #expect(refused.problem == .idempotencyKeyReused)
        #expect(world.destroyed.all == [first])
    }

    @Test func `erasing a subject in an unknown realm destroys nothing`() async throws {
        let world = try await World()
        let refused = try await world.send(
            .post, "/api/admin/realms/nowhere/subjects/\(first)/erase")
        #expect(refused.problem == .noSuchRealm)
        #expect(world.destroyed.all.isEmpty)
    }

    @Test func `erasing a subject with another realm's admin key destroys nothing`() async throws {
        let world = try await World()
        try await world.make("/api/admin/realms", ["realm": "other", "display_name": "Other"])
        let refused = try await world.send(
            .post, "/api/admin/realms/other/subjects/\(first)/erase", key: world.narrowKey)
        #expect(refused.problem == .forbidden)
        #expect(world.destroyed.all.isEmpty)
    }
}
