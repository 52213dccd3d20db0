import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Who says to be a client and does not show it` {
    private func refused(_ world: SignInWorld) async throws -> [Recorded] {
        try await world.log.events(from: 1, limit: .max, in: world.realm).filter {
            $0.name == "session.refused"
        }
    }

    @Test(arguments: [
        ("/connect/token", "authorization_code"), ("/connect/token", "refresh_token"),
        ("/connect/token", "client_credentials"), ("/connect/introspect", ""),
        ("/connect/revoke", ""), ("/connect/par", ""),
    ])
    func `is on record`(path: String, grant: String) async throws {
        let world = try await SignInWorld()
        let answer = try await world.post(
            path, form: [("grant_type", grant), ("token", "x")].filter { $0.1 != "" },
            basic: "service:wrong")
        #expect(answer.json["error"] == "invalid_client")
        let events = try await refused(world)
        #expect(events.count == 1)
        let event = try #require(events.first)
        #expect(event.actor == "anonymous" && event.client == "service")
        #expect(event.open["client_id"] == "service" && event.open["reason"] == "invalid_client")
        #expect(event.open["method"]?.string == (grant.isEmpty ? "client_credentials" : grant))
        #expect(event.open["source"] != nil && event.open["account"] == nil)
    }

    @Test func `is on record whatever was shown instead`() async throws {
        let world = try await SignInWorld()
        let grant = [(name: "grant_type", value: "client_credentials")]
        let shown: [[(name: String, value: String)]] = [
            [("client_id", "service")], [("client_id", "service"), ("client_secret", "x")],
            [("client_id", "phone"), ("client_secret", "x")],
        ]
        for more in shown {
            #expect(
                try await world.post("/connect/token", form: grant + more).json["error"]
                    == "invalid_client")
        }
        #expect(try await refused(world).count == shown.count)
    }

    @Test func `leaves nothing where no client has that name`() async throws {
        let world = try await SignInWorld()
        let before = try await world.events()
        for basic in ["nobody:x", "service%00:x", ":x"] {
            let answer = try await world.post(
                "/connect/token", form: [("grant_type", "client_credentials")], basic: basic)
            #expect(answer.status != .ok)
        }
        #expect(try await world.events() == before)
    }

    @Test func `is told from a client that is stopped`() async throws {
        let world = try await SignInWorld()
        let id = UUID.random()
        let digest = try #require(SecretDigest(SHA256.hash(Array("x".utf8))))
        try await world.carryOut(
            RegisterClient(
                id: id, clientID: "job",
                metadata: ["grant_types": ["client_credentials"], "scope": "jobs"], secret: digest))
        try await world.carryOut(DisableClient(id: id))
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")], basic: "job:x")
        #expect(answer.json["error"] == "invalid_client")
        #expect(try await refused(world).map { $0.open["reason"] } == ["client_disabled"])
    }

    /// Anonymous noise must not fill the log.
    @Test func `fills the log no faster than its source may ask`() async throws {
        let world = try await SignInWorld([
            "rate_limits": ["oauth-token": ["source": ["amount": 5, "seconds": 60]]]
        ])
        var limited = 0
        for _ in 0..<30 {
            let answer = try await world.post(
                "/connect/token", form: [("grant_type", "client_credentials")],
                basic: "service:wrong")
            if answer.status == .tooManyRequests { limited += 1 }
        }
        #expect(limited > 20)
        #expect(try await refused(world).count == 30 - limited)
    }
}
