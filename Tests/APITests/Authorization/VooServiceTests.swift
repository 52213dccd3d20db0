import HTTP
import JSON
import Testing
import Values

@testable import API

/// At the resource server, by services that act for themselves.
extension `An app of the voo profile` {
    @Test(arguments: ["reference", "jwt"])
    func `VOO-08: a service passes the guard with a token for the resource, and with no other`(
        format: String
    ) async throws {
        let (here, there) = ("https://api.voo.example", "https://bank.example")
        let world = try await world()
        try await world.register(
            "jobs",
            [
                "grant_types": ["client_credentials"], "redirect_uris": [], "scope": "jobs",
                "access_token_format": .string(format),
            ])
        func token(_ more: Pairs) async throws -> String {
            let answer = try await world.world.post(
                "/connect/token",
                form: [
                    ("grant_type", "client_credentials"), ("client_id", "jobs"),
                    ("client_secret", SignInWorld.secret),
                ] + more)
            return try #require(answer.json["access_token"]?.string)
        }
        let meant = try await token([("resource", here)])
        let answer = try await data(world, meant, scope: "jobs", resource: here)
        #expect(answer.status == .ok && answer.response.headers["Urd-Subject"] == "jobs")
        #expect(answer.json["sub"] == "jobs" && answer.json["client_id"] == "jobs")
        #expect(answer.response.headers["Urd-Business-Partner"] == nil)
        #expect(try await data(world, meant, scope: "more", resource: here).status == .forbidden)
        for other in [try await token([]), try await token([("resource", there)])] {
            #expect(try await data(world, other, resource: here).status == .forbidden)
            #expect(try await data(world, other).status == .unauthorized)
        }
    }
}
