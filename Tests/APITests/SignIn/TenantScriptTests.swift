import HTTP
import JSON
import Testing

@testable import API

/// What pages of tenants of the profile `verify` may read of answers that come before a tenant is known.
@Suite struct `Refusals that scripts of tenants' pages read` {
    private func ask(
        _ world: SignInWorld, origin: String, key: String?, body: String = "{}"
    ) async -> Response {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/json", "Origin": origin,
        ]
        headers["API_KEY_ID"] = key
        return await world.router.respond(
            to: Request(
                method: .post, path: "/api/v0/verify/get_identity", query: nil, headers: headers,
                body: Array(body.utf8), source: "203.0.113.7", id: "request-7"))
    }

    @Test func `a page reads why its request was refused, also where no tenant is known by it`()
        async throws
    {
        let world = try await SignInWorld(["profile": "verify"])
        let origin = "https://shop.example"
        for (key, body) in [
            (nil, "{}"), ("unknown", "{}"), (String(repeating: "x", count: 300), "{}"),
            ("unknown", "{"),
        ] {
            let answer = await ask(world, origin: origin, key: key, body: body)
            #expect([400, 403].contains(answer.status.code), "\(answer.status.code)")
            #expect(
                answer.headers["Access-Control-Allow-Origin"] == origin, "\(key ?? ""): \(body)")
            #expect(answer.headers["Access-Control-Allow-Credentials"] == "true")
        }
        for other in ["null", "http://evil.example", "chrome-extension://abc"] {
            let answer = await ask(world, origin: other, key: nil)
            #expect(answer.headers["Access-Control-Allow-Origin"] == nil, "\(other)")
        }
        try await world.register(
            "tenant", ["profile": "verify", "redirect_uris": ["https://shop.example"]],
            secret: "hush")
        let foreign = await ask(world, origin: "https://evil.example", key: "tenant")
        #expect(foreign.status == .forbidden)
        #expect(foreign.headers["Access-Control-Allow-Origin"] == nil)
        let own = await ask(world, origin: origin, key: "tenant")
        #expect(own.headers["Access-Control-Allow-Origin"] == origin)
    }
}
