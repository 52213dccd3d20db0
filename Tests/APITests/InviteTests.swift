import HTTP
import JSON
import Testing

@testable import API

@Suite struct `MOD-17: Invites of administrators` {
    @Test func `MOD-17: an administrator makes, lists and revokes invites`() async throws {
        let world = try await World()
        let path = "/api/admin/realms/acme/invites"
        let before = try await world.send(.get, path).json["items"]?.array?.count ?? 0
        let made = try await world.make(
            path, ["count": 2, "expires_in_days": 3, "email": "Ann@Example.org"])
        let items = made.json["items"]?.array ?? []
        #expect(items.count == 2)
        let listed = try await world.send(.get, path).json["items"]?.array ?? []
        #expect(listed.count == before + 2)
        let one = try #require(listed.first { $0["id"] == items.first?["id"] })
        #expect(one["is_bound"] == true && one["app_id"] == .null && one["used_at"] == .null)
        #expect(one["expires_at"] == made.json["expires_at"])
        let id = try #require(one["id"]?.string)
        #expect(try await world.send(.delete, "\(path)/\(id)").status == .noContent)
        #expect(try await world.send(.delete, "\(path)/\(id)").problem == .noSuchInvite)
        #expect(try await world.send(.get, path).json["items"]?.array?.count == before + 1)
    }

    @Test func `MOD-17: a repeated request for invites returns the codes of the first`()
        async throws
    {
        let world = try await World()
        func make(_ body: JSON) async throws -> Answered {
            try await world.send(
                .post, "/api/admin/realms/acme/invites", body: body, idempotencyKey: "once")
        }
        let first = try await make(["count": 2])
        #expect(first.status == .created)
        #expect(try await make(["count": 2]).json == first.json)
        #expect(try await make(["count": 3]).problem == .idempotencyKeyReused)
    }

    @Test func `MOD-17: invalid requests for invites are refused`() async throws {
        let world = try await World()
        func make(_ body: JSON) async throws -> ProblemKind? {
            try await world.send(.post, "/api/admin/realms/acme/invites", body: body).problem
        }
        #expect(try await make(["count": 0]) == .invalidField)
        #expect(try await make(["count": 101]) == .invalidField)
        #expect(try await make(["expires_in_days": 366]) == .invalidField)
        #expect(try await make(["email": "nobody"]) == .invalidField)
        #expect(
            try await make(["email": "аnn@exаmple.org"]) == .invalidField, "It looks like another.")
        #expect(
            try await make(["app_id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9aff"]) == .noSuchApp)
        let app = try #require(world.names["app_id"])
        #expect(try await make(["app_id": .string(app)]) == nil)
    }
}
