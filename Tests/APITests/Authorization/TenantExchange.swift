import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// A tenant's app and its codes. They are those of pages, given out to the tenant.
extension AuthorizeWorld {
    func registerTenant() async throws {
        try await world.register("tenant", ["profile": "verify"], secret: "hush")
    }

    /// What redeems a new code of the browser that is signed in, for tokens.
    func tenantExchange() async throws -> Request {
        let verifier = String(repeating: "v", count: 43)
        let place = "http://localhost:8395"
        let text = try await code()
        var code = try #require(world.mint.readAuthorizationCode(text))
        code.client = try #require(
            try await MemoryQueries(log: world.log).ask(
                KnownClient.byClientID, "tenant", in: world.realm)
        ).id
        code.redirect = try #require(SecretDigest.of(place))
        code.challenge = SecretDigest.of(verifier)
        code.userAgent = "Mozilla/5.0 (a browser)"
        let body: JSON = [
            "authorization_code": .string(try #require(world.mint.authorizationCode(code))),
            "code_verifier": .string(verifier), "redirect_url": .string(place),
            "challenge_id": .integer(code.challengeNumber),
        ]
        return Request(
            method: .post, path: "/api/v0/verify/get_identity", query: "oauth_token=true",
            headers: [
                "Host": "id.acme.example", "API_KEY_ID": "tenant",
                "Content-Type": "application/json",
            ], body: body.canonical(), source: "203.0.113.7", id: "request-16")
    }
}
