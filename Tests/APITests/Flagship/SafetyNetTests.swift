import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `A SafetyNet statement` {
    private let authority: CertificateAuthority
    private let other: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
        other = try CertificateAuthority()
    }

    private func world(
        isOn: Bool = true, _ more: JSONObject = [:]
    ) async throws -> FlagshipWorld {
        let settings: JSONObject = [
            "safety_net": .bool(isOn),
            "safety_net_roots": [.string(Base64.encode(authority.root))],
        ]
        return try await FlagshipWorld(settings.merging(more) { $1 })
    }

    /// The status of a word on a device that passes Android's compatibility tests, or does not.
    private func statusOfWord(
        _ match: JSON, in world: FlagshipWorld
    ) async throws -> Int {
        let app = try await world.register()
        let word = try world.google.safetyNet(
            try await world.challenge(app), at: world.world.clock.next(), by: authority,
            ["ctsProfileMatch": match])
        return try await world.attest(app, word).status.code
    }

    @Test
    func `COZ-07: a SafetyNet statement must have ctsProfileMatch, unless the realm waives it`()
        async throws
    {
        let strict = try await world()
        for match: JSON in [false, .null, "true", 1] {
            #expect(try await statusOfWord(match, in: strict) == 400)
            #expect(
                try await strict.happened("attestation.refused").last?.open["reason"] == "profile")
        }
        #expect(try await strict.happened("client.certified").isEmpty)
        #expect(try await statusOfWord(true, in: strict) == 204)
        let lax = try await world(["safety_net_demands": []])
        #expect(try await statusOfWord(false, in: lax) == 204)
    }

    @Test func `COZ-07: a SafetyNet statement is accepted once where the realm allows it`()
        async throws
    {
        let world = try await world()
        let app = try await world.register()
        let word = try world.google.safetyNet(
            try await world.challenge(app), at: world.world.clock.next(), by: authority)
        #expect(try await world.attest(app, word).status == .noContent)
        #expect(try await world.attest(app, word).json["error"] == "invalid challenge")
        let found = try await world.send(.get, "/auth/register/\(app.id)", bearer: app.token)
        #expect(found.json["certified_from_store"] == true)
        #expect(try await world.happened("client.certified").last?.open["by"] == "safety_net")
        let off = try await self.world(isOn: false)
        let plain = try await off.register()
        let answer = try await off.attest(
            plain,
            try off.google.safetyNet(
                try await off.challenge(plain), at: off.world.clock.next(), by: authority))
        #expect(answer.status == .badRequest)
        #expect(answer.json == ["error": "invalid attestation"])
    }

    @Test func `COZ-07: a SafetyNet statement with any fault is refused`() async throws {
        let world = try await world()
        let app = try await world.register()
        func attest(
            _ said: String, _ make: (String, Timestamp) throws -> JSON
        ) async throws {
            let word = try make(try await world.challenge(app), world.world.clock.next())
            let answer = try await world.attest(app, word)
            #expect(answer.status == .badRequest)
            #expect(answer.json == ["error": .string(said)])
        }
        let google = world.google
        let wrong: [(String, JSONObject)] = [
            ("invalid nonce", ["nonce": "AAAA"]), ("invalid nonce", ["nonce": .null]),
            ("invalid package name", ["apkPackageName": "io.example.evil"]),
            ("invalid certificate digest", ["apkCertificateDigestSha256": []]),
            ("invalid certificate digest", ["apkCertificateDigestSha256": ["AAAA"]]),
            ("invalid attestation", ["timestampMs": 1]),
            ("invalid attestation", ["timestampMs": .null]),
            ("invalid attestation", ["basicIntegrity": false]),
        ]
        for (said, change) in wrong {
            try await attest(said) { challenge, now in
                try google.safetyNet(challenge, at: now, by: authority, change)
            }
        }
        let bad = "invalid attestation"
        try await attest(bad) { challenge, now in
            try google.safetyNet(challenge, at: now, by: other)
        }
        try await attest(bad) { challenge, now in
            try google.safetyNet(challenge, at: now, by: authority, host: "evil.android.com")
        }
        try await attest(bad) { challenge, now in
            try google.safetyNet(challenge, at: now, by: authority, forged: true)
        }
        for header: JSONObject in [
            ["alg": "none"], ["alg": "HS256"], ["x5c": []], ["x5c": ["AAAA"]], ["crit": ["a"]],
        ] {
            try await attest(bad) { challenge, now in
                try google.safetyNet(challenge, at: now, by: authority, header: header)
            }
        }
        #expect(try await world.happened("client.certified").isEmpty)
        // A challenge that another installation was given.
        let stranger = try await world.register("Stranger")
        let relayed = try google.safetyNet(
            try await world.challenge(stranger), at: world.world.clock.next(), by: authority)
        #expect(try await world.attest(app, relayed).json["error"] == "invalid challenge")
    }
}
