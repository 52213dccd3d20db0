import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A client that acts for itself` {
    private func world(_ scope: String) async throws -> SignInWorld {
        let world = try await SignInWorld()
        try await world.register(
            "job", ["grant_types": ["client_credentials"], "scope": .string(scope)], secret: "hush")
        return world
    }

    private func ask(_ scope: String, _ world: SignInWorld) async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [("grant_type", "client_credentials")]
                + (scope.isEmpty ? [] : [("scope", scope)]),
            basic: "job:hush")
    }

    /// RFC 6749 section 5.2, whether the client may have them in other grants or not.
    @Test(arguments: ["jobs", "jobs openid profile email roles permissions offline_access"])
    func `a client that acts for itself is refused personal scopes with invalid_scope`(
        registered: String
    ) async throws {
        let world = try await world(registered)
        for name in Scope.standard + ["other", "jobs openid"] {
            let answer = try await ask(name, world)
            #expect(
                answer.status == .badRequest && answer.json["error"] == "invalid_scope", "\(name)")
        }
        for asked in ["jobs", ""] {
            let answer = try await ask(asked, world)
            #expect(answer.status == .ok && answer.json["scope"] == "jobs", "\(asked)")
        }
    }
}
