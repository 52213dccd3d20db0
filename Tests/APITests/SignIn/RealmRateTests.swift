import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `MOD-15: The rates of a realm` {
    private func world(_ rates: JSON = [:]) async throws -> SignInWorld {
        try await SignInWorld(["registration": "jit_on_otp", "rate_limits": rates])
    }

    private func ask(_ world: SignInWorld, _ basic: String? = nil) async throws -> Answered {
        try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: basic ?? SignInWorld.serviceBasic)
    }

    @Test func `MOD-15: a realm's rates allow a client sixty token requests a minute`() async throws
    {
        let world = try await world()
        for _ in 0..<60 { #expect(try await ask(world).status == .ok) }
        let refused = try await ask(world)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.json["error"] == "rate_limited")
        #expect(refused.json["policy"] == "oauth-token")
        #expect(refused.json["dimension"] == "client")
        let seconds = try #require(refused.json["retryAfterSeconds"]?.integer)
        #expect(refused.response.headers["Retry-After"] == "\(seconds)" && seconds >= 1)
    }

    @Test func `MOD-15: a realm's rates can be lowered, raised and lifted one by one`() async throws
    {
        let low = try await world([
            "oauth-token": ["client": ["amount": 10, "seconds": 60, "burst": 2]]
        ])
        for _ in 0..<2 { #expect(try await ask(low).status == .ok) }
        #expect(try await ask(low).json["dimension"] == "client")
        let high = try await world([
            "oauth-token": ["client": ["amount": 100, "seconds": 60], "source": .null]
        ])
        for _ in 0..<100 { #expect(try await ask(high).status == .ok) }
        #expect(try await ask(high).status == .tooManyRequests)
        let none = try await world([
            "oauth-token": ["client": ["amount": 0, "seconds": 60], "source": .null]
        ])
        for _ in 0..<250 { #expect(try await ask(none).status == .ok) }
        // What was not named is as it was.
        let codes = try await world(["oauth-token": ["client": .null]])
        for _ in 0..<5 {
            #expect(try await codes.requestCode(["Email": "ann@example.org"]).status == .ok)
        }
        let sixth = try await codes.requestCode(["Email": "ann@example.org"])
        #expect(sixth.status == .tooManyRequests && sixth.json["dimension"] == "target")
    }

    @Test func `MOD-15: a mailbox's rate is not used up by an outage`() async throws {
        let world = try await world()
        for (path, body) in [
            ("/api/account/native/otp/request", ["Email": "ann@example.org"]),
            ("/api/account/magic-link/request", ["Email": "ann@example.org"]),
        ] as [(String, JSONObject)] {
            world.log.fail(with: .unavailable)
            for _ in 0..<6 {
                #expect(try await world.post(path, json: body).status == .serviceUnavailable)
            }
            world.log.fail(with: nil)
            for _ in 0..<5 { #expect(try await world.post(path, json: body).status == .ok) }
            #expect(try await world.post(path, json: body).status == .tooManyRequests)
        }
    }

    @Test func `MOD-15: a client's rate is not used up by requests that fail its authentication`()
        async throws
    {
        let world = try await world([
            "oauth-token": ["source": ["amount": 600, "seconds": 60, "burst": 70]]
        ])
        for _ in 0..<70 {
            #expect(try await ask(world, "service:wrong").json["error"] == "invalid_client")
        }
        for _ in 0..<5 { #expect(try await ask(world).status == .ok) }
        // From the same network there is no more guessing for a while.
        let refused = try await ask(world, "service:wrong")
        #expect(refused.status == .tooManyRequests && refused.json["dimension"] == "source")
    }
}
