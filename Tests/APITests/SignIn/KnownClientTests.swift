import Cryptography
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Another node changed the client, and this one has not heard of it yet.
@Suite struct `A cached client` {
    private let world: SignInWorld
    private let id = UUID.random()

    init() async throws {
        world = try await SignInWorld(isDeaf: true)
        try await world.carryOut(
            RegisterClient(
                id: id, clientID: "kept",
                metadata: ["grant_types": ["client_credentials"], "scope": "jobs"],
                secret: digest("old")))
        #expect(try await token("old").status == .ok)
    }

    private func digest(_ secret: String) throws -> SecretDigest {
        try #require(SecretDigest(SHA256.hash(Array(secret.utf8))))
    }

    private func token(_ secret: String) async throws -> Answered {
        try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: "kept:\(secret)")
    }

    private func introspect(_ secret: String) async throws -> Answered {
        try await world.post(
            "/connect/introspect", form: [("token", "x")], basic: "kept:\(secret)")
    }

    @Test func `a cached client is refused its old secret, and accepted with the new one`()
        async throws
    {
        try await world.carryOut(ClientChange.rotateSecret(id, secret: digest("new")))
        #expect(try await token("old").json["error"] == "invalid_client")
        #expect(try await introspect("old").json["error"] == "invalid_client")
        #expect(try await token("new").status == .ok)
        #expect(try await introspect("new").status == .ok)
    }

    @Test func `a cached client is refused once it is disabled or deleted`() async throws {
        try await world.carryOut(ClientChange.disable(id))
        #expect(try await token("old").json["error"] == "invalid_client")
        #expect(try await introspect("old").json["error"] == "invalid_client")
        try await world.carryOut(ClientChange.enable(id))
        #expect(try await token("old").status == .ok)
        try await world.carryOut(DeleteClient(id: id))
        #expect(try await token("old").json["error"] == "invalid_client")
    }

    @Test func `a cached client's changed rights apply at once`()
        async throws
    {
        func otp() async throws -> JSON? {
            try await world.post(
                "/connect/token", form: [("grant_type", "urn:cocoar:otp"), ("otp_code", "1")],
                basic: "kept:old"
            ).json["error"]
        }
        #expect(try await otp() == "unauthorized_client")
        try await world.carryOut(
            UpdateClient(id: id, metadata: ["grant_types": ["urn:cocoar:otp"]]))
        #expect(try await otp() == "invalid_grant", "It may, but the code is wrong.")
        #expect(try await token("old").json["error"] == "unauthorized_client")
    }
}
