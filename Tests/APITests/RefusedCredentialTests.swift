import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A refused credential` {
    private func refusals(_ world: World) async throws -> [(reason: String, actor: String)] {
        try await world.log.events(from: 1, limit: .max, in: .system)
            .filter { $0.name == "admin_key.refused" }
            .map { ($0.open["reason"]?.string ?? "", $0.actor) }
    }

    @Test func `a refused admin key is recorded`() async throws {
        let world = try await World()
        let known = world.narrowKey
        let unknown = BearerKey(id: UUID(high: 1, low: 1), secret: Random.bytes(32))
        let wrong = BearerKey(id: known.id, secret: Random.bytes(32))
        let path = "/api/admin/realms"
        #expect(try await world.send(.get, path, key: unknown).problem == .unauthenticated)
        #expect(try await world.send(.get, path, key: wrong).problem == .unauthenticated)
        #expect(
            try await world.send(.get, path, key: world.revokedKey).problem == .unauthenticated)
        #expect(try await world.send(.get, path, key: known).problem == .forbidden)
        let refusals = try await refusals(world)
        #expect(
            refusals.map(\.reason) == [
                "unknown_key", "wrong_secret", "revoked_key", "out_of_scope",
            ])
        #expect(refusals.allSatisfy { $0.actor == "anonymous" })
    }

    @Test func `a refused credential tried again and again does not fill the log`() async throws {
        let world = try await World()
        let wrong = BearerKey(id: world.narrowKey.id, secret: Random.bytes(32))
        for _ in 0..<20 {
            _ = try await world.send(.get, "/api/admin/realms", key: wrong)
            let madeUp = BearerKey(id: .random(), secret: Random.bytes(32))
            for _ in 0..<4 { _ = try await world.send(.get, "/api/admin/realms", key: madeUp) }
        }
        let reasons = try await refusals(world).map(\.reason)
        #expect(reasons.count { $0 == "wrong_secret" } == 10)
        #expect(reasons.count { $0 == "unknown_key" } == 60)
    }

    @Test func `a refused refresh token of an ended session is recorded once an hour`() async throws
    {
        let world = try await SignInWorld()
        let tokens = try await world.join()
        let token = try #require(tokens["refresh_token"]?.string)
        let form: [(name: String, value: String)] = [
            ("grant_type", "refresh_token"), ("client_id", "phone"), ("refresh_token", token),
        ]
        _ = try await world.post(
            "/connect/revoke", form: [("client_id", "phone"), ("token", token)])
        for _ in 0..<3 {
            let answer = try await world.post("/connect/token", form: form)
            #expect(answer.json["error"] == "invalid_grant")
        }
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let refused = events.filter { $0.name == "session.refused" }
        #expect(refused.map { $0.open["reason"]?.string } == ["session_ended"])
        #expect(refused.first?.open["method"] == "refresh_token")
        #expect(refused.first?.open["account"] != nil)
        world.clock.advance(seconds: 3600)
        _ = try await world.post("/connect/token", form: form)
        #expect(try await world.events().count { $0 == "session.refused" } == 2)
        // What this server never gave is nobody's.
        let forged = String(token.dropLast(4)) + "AAAA"
        _ = try await world.post(
            "/connect/token",
            form: Array(form.dropLast()) + [(name: "refresh_token", value: forged)])
        #expect(try await world.events().count { $0 == "session.refused" } == 2)
    }
}
