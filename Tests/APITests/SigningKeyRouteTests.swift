import HTTP
import JSON
import Testing

@testable import API

@Suite struct `The signing keys of a realm` {
    private let path = "/api/admin/realms/acme/signing-keys"

    private func rotate(
        _ algorithm: String, _ world: World, idempotencyKey: String? = nil
    ) async throws -> Answered {
        try await world.send(
            .post, path + "/rotate", body: ["algorithm": .string(algorithm)],
            idempotencyKey: idempotencyKey)
    }

    private func phases(_ answer: Answered) -> [String?] {
        answer.json["items"]?.array?.map { $0["phase"]?.string } ?? []
    }

    @Test func `a realm's signing keys are published before they sign and after`() async throws {
        let world = try await World()
        #expect(try await world.send(.get, path).json["items"] == [])
        #expect(phases(try await rotate("ES256", world)) == ["active"])
        #expect(phases(try await rotate("ES256", world)) == ["active", "published"])
        let third = try await rotate("ES256", world)
        #expect(phases(third) == ["retired", "active", "published"])
        let retired = try #require(third.json["items"]?[0])
        #expect(retired["retired_at"] != nil && retired["shown_until"] != nil)
        #expect(try await world.send(.get, path).json == third.json)
        for key in try #require(third.json["items"]?.array) { #expect(key["secret"] == nil) }
    }

    @Test func `a realm's signing keys can be rotated for each algorithm by itself`() async throws {
        let world = try await World()
        _ = try await rotate("RS256", world)
        let both = try await rotate("ES256", world)
        #expect(phases(both) == ["active", "active"])
        #expect(try await rotate("HS256", world).problem == .invalidField)
    }

    @Test func `a realm's signing keys are rotated once per idempotency key`() async throws {
        let world = try await World()
        let first = try await rotate("ES256", world, idempotencyKey: "one")
        let second = try await rotate("ES256", world, idempotencyKey: "one")
        #expect(first.json == second.json)
        #expect(try await world.send(.get, path).json == first.json)
    }

    @Test func `a disabled or missing realm's signing keys cannot be rotated`() async throws {
        let world = try await World()
        let missing = "/api/admin/realms/nobody/signing-keys"
        #expect(try await world.send(.get, missing).problem == .noSuchRealm)
        let refused = try await world.send(
            .post, missing + "/rotate", body: ["algorithm": "ES256"])
        #expect(refused.problem == .noSuchRealm)
        _ = try await world.send(.post, "/api/admin/realms/acme/disable")
        #expect(try await rotate("ES256", world).problem == .realmDisabled)
    }
}
