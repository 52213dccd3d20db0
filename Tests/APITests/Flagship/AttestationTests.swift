import Cryptography
import EventSourcing
import HTTP
import JOSE
import JSON
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `An app store's attestation` {
    @Test func `COZ-06: an Apple attestation is accepted and recorded`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let found = try await world.send(.get, "/auth/register/\(app.id)", bearer: app.token)
        #expect(found.json["flagship"] == true)
        #expect(found.json["certified_from_store"] == true)
        let accepted = try await world.happened("attestation.accepted")
        #expect(accepted.map { $0.open["app"] } == [.string(FlagshipWorld.team)])
        #expect(try await world.happened("client.certified").first?.open["by"] == "app_attest")
    }

    struct Wrong: Sendable, CustomStringConvertible {
        let description: String
        let reason: String
        let change: @Sendable (inout AppleDevice) throws -> Void

        init(
            _ description: String, _ reason: String,
            _ change: @escaping @Sendable (inout AppleDevice) throws -> Void
        ) {
            (self.description, self.reason, self.change) = (description, reason, change)
        }
    }

    static let wrong: [Wrong] = [
        Wrong("the format", "format") { $0.format = "apple" },
        Wrong("no receipt", "receipt") { $0.receipt = [] },
        Wrong("another app", "app") { $0.app = "TEAMTEAM01.io.example.evil" },
        Wrong("a counter", "counter") { $0.counter = 1 },
        Wrong("the other world", "environment") { $0.model = Array("appattestdevelop".utf8) },
        Wrong("another credential", "credential_id") {
            $0.credentialID = Array(repeating: 1, count: 32)
        },
        Wrong("a credential of many bytes", "authenticator_data") {
            $0.credentialID = Array(repeating: 1, count: 60_000)
        },
        Wrong("another key id", "key_id") { $0.keyID = Array(repeating: 1, count: 32) },
        Wrong("a short key id", "key_name") { $0.keyID = [1] },
        Wrong("another challenge", "nonce") { $0.hashed = [1, 2, 3] },
        Wrong("bytes behind", "authenticator_data") { $0.trailing = [0] },
        Wrong("no nonce", "nonce") { $0.certificate = { $0.extensions = [] } },
        Wrong("another key in the certificate", "key") {
            $0.certificate = { $0.key = try ES256.PrivateKey.generate().publicKey.spki }
        },
        Wrong("a certificate that is over", "chain_out_of_date") {
            $0.certificate = { $0.notAfter = "20250101000000Z" }
        },
        Wrong("a certificate that begins later", "chain_out_of_date") {
            $0.certificate = { $0.notBefore = "20400101000000Z" }
        },
        Wrong("a leaf that is an authority", "chain_broken") {
            $0.certificate = { $0.isAuthority = true }
        },
        Wrong("another issuer", "chain_broken") {
            $0.certificate = { $0.issuer = CertificateAuthority.name }
        },
    ]

    @Test(arguments: wrong)
    func `COZ-06: an Apple attestation with any fault is refused`(_ wrong: Wrong) async throws {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        var device = try AppleDevice(world.apple)
        try wrong.change(&device)
        let challenge = try await world.challenge(app)
        let answer = try await world.attest(app, device.attestation(challenge).json)
        #expect(answer.status == .badRequest)
        #expect(answer.json["error"]?.string?.hasPrefix("invalid ") == true)
        let refused = try await world.happened("attestation.refused")
        #expect(refused.map { $0.open["reason"] } == [.string(wrong.reason)])
        #expect(try await world.happened("client.certified").isEmpty)
    }

    @Test func `COZ-06: an Apple attestation under another root is refused`() async throws {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let device = try AppleDevice(CertificateAuthority())
        let answer = try await world.attest(
            app, device.attestation(try await world.challenge(app)).json)
        #expect(answer.json["error"] == "invalid attestation")
        #expect(
            try await world.happened("attestation.refused").first?.open["reason"]
                == "chain_untrusted")
    }

    @Test func `COZ-04: an attestation challenge is used once, by its app, within a week`()
        async throws
    {
        let world = try await FlagshipWorld()
        let (app, other) = (try await world.register(), try await world.register("Other"))
        let device = try AppleDevice(world.apple)
        let challenge = try await world.challenge(app)
        #expect(challenge.utf8.count == 32)
        let good = try device.attestation(challenge).json
        // Relayed to another installation it is nothing, and stays good for its own.
        let relayed = try await world.attest(other, good)
        #expect(relayed.status == .badRequest)
        #expect(relayed.json["error"] == "invalid challenge")
        #expect(try await world.attest(app, good).status == .noContent)
        #expect(try await world.attest(app, good).json["error"] == "invalid challenge")
        // What is wrong uses it up as well.
        let second = try await world.challenge(app)
        let bad = try await world.attest(app, ["platform": "ios", "challenge": .string(second)])
        #expect(bad.json["error"] == "invalid attestation")
        #expect(
            try await world.attest(app, device.attestation(second).json).json["error"]
                == "invalid challenge")
        let third = try await world.challenge(app)
        _ = try await world.onboard(app)
        world.world.clock.advance(seconds: 7 * 86_400 + 1)
        #expect(
            try await world.attest(app, device.attestation(third).json).json["error"]
                == "invalid challenge")
        let unknown = try await world.send(
            .post, "/auth/clients/00000000000000000000000000000000/attestation", json: good)
        #expect(unknown.status == .notFound)
        #expect(unknown.json["error"] == "Client not found")
    }

    @Test func `COZ-04: an attestation challenge used fifty times at once certifies once`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let challenge = try await world.challenge(app)
        let good = try AppleDevice(world.apple).attestation(challenge).json
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await world.attest(app, good).status.code }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 204 } == 1)
        #expect(statuses.allSatisfy { [204, 400].contains($0) })
        #expect(try await world.happened("client.certified").count == 1)
    }

    @Test
    func `COZ-04: forty simultaneous attestations with their own challenges are all accepted`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let device = try AppleDevice(world.apple)
        var words: [JSON] = []
        for _ in 0..<40 {
            words.append(try device.attestation(try await world.challenge(app)).json)
        }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for word in words {
                group.addTask { try await world.attest(app, word).status.code }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 204 })
        #expect(try await world.happened("attestation.accepted").count == 40)
    }

    @Test func `COZ-06: a later Apple assertion of a certified device needs a growing counter`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        let device = try AppleDevice(world.apple)
        _ = try await world.attest(
            app, device.attestation(try await world.challenge(app)).json)
        func assert(
            _ counter: UInt32, by key: ES256.PrivateKey? = nil, as app: TestInstallation
        ) async throws -> Int {
            let challenge = try await world.challenge(app)
            return try await world.send(
                .post, "/auth/clients/\(app.id)/assertion",
                json: device.assertion(challenge, counter: counter, by: key)
            ).status.code
        }
        #expect(try await assert(1, as: app) == 204)
        #expect(try await assert(1, as: app) == 400)
        #expect(try await assert(0, as: app) == 400)
        #expect(try await assert(7, as: app) == 204)
        #expect(try await assert(6, as: app) == 400)
        #expect(try await assert(8, by: .generate(), as: app) == 400)
        #expect(try await assert(9, as: try await world.register("Other")) == 400)
        #expect(try await assert(8, as: app) == 204)
        let reasons = try await world.happened("attestation.refused").map { $0.open["reason"] }
        #expect(reasons == ["counter", "counter", "counter", "signature", "no_key"])
    }

    // MARK: - Google

    private func verdict(
        _ world: FlagshipWorld, by key: SigningKey? = nil, under other: [UInt8]? = nil,
        header: JSON = ["alg": "A256KW", "enc": "A256GCM"],
        age: Int64 = 0, _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> Answered {
        let app = try await world.register()
        let challenge = try await world.challenge(app)
        var verdict = world.google.verdict(
            challenge, at: world.world.clock.next().adding(seconds: -age))
        change(&verdict)
        return try await world.attest(
            app,
            world.google.attestation(
                challenge,
                world.google.message(verdict, by: key, under: other, header: header)))
    }

    @Test func `COZ-05: a Google integrity verdict is accepted`() async throws {
        let world = try await FlagshipWorld()
        #expect(try await verdict(world).status == .noContent)
        #expect(
            try await world.happened("client.certified").first?.open["by"] == "play_integrity")
        // Devices that Google does not know are asked by mail elsewhere; here they may pass.
        #expect(try await verdict(world) { $0["deviceIntegrity"] = [:] }.status == .noContent)
    }

    @Test func `COZ-05: a Google integrity verdict with any fault is refused`() async throws {
        let world = try await FlagshipWorld()
        func setting(
            _ part: String, _ member: String, _ value: JSON
        ) -> (inout JSONObject) -> Void {
            { verdict in
                var inner = verdict[part]?.object ?? [:]
                inner[member] = value
                verdict[part] = .object(inner)
            }
        }
        let cases: [(String, (inout JSONObject) -> Void)] = [
            ("nonce", setting("requestDetails", "nonce", "other")),
            ("nonce", setting("requestDetails", "nonce", .null)),
            ("package", setting("requestDetails", "requestPackageName", "io.example.evil")),
            // Two of our own packages are two packages.
            (
                "package",
                setting("appIntegrity", "packageName", .string(FlagshipWorld.secondPackage))
            ),
            ("age", setting("requestDetails", "timestampMillis", .null)),
            ("age", setting("requestDetails", "timestampMillis", "99999999999999")),
            ("digest", setting("appIntegrity", "certificateSha256Digest", [])),
            ("digest", setting("appIntegrity", "certificateSha256Digest", ["AAAA"])),
            (
                "digest",
                setting(
                    "appIntegrity", "certificateSha256Digest",
                    [
                        .string(Base64URL.encode(world.google.certificateDigest)),
                        .string(Base64URL.encode(Random.bytes(32))),
                    ])
            ),
            ("payload", { $0["appIntegrity"] = nil }),
            ("payload", { $0["requestDetails"] = nil }),
        ]
        for (reason, change) in cases {
            let answer = try await verdict(world, change)
            #expect(answer.status == .badRequest, "\(reason)")
            #expect(
                try await world.happened("attestation.refused").last?.open["reason"]
                    == .string(reason))
        }
        #expect(try await verdict(world, age: 601).status == .badRequest)
        #expect(try await verdict(world, by: .pooled(.es256)).status == .badRequest)
        #expect(try await verdict(world, by: .generate(.rs256)).status == .badRequest)
        #expect(try await verdict(world, under: Random.bytes(32)).status == .badRequest)
        for header: JSON in [
            ["alg": "dir", "enc": "A256GCM"], ["alg": "A256KW", "enc": "A128GCM"],
            ["alg": "A256KW", "enc": "A256GCM", "zip": "DEF"],
            ["alg": "A256KW", "enc": "A256GCM", "crit": []],
        ] {
            #expect(try await verdict(world, header: header).status == .badRequest)
        }
        #expect(try await world.happened("client.certified").isEmpty)
    }

    @Test func `COZ-05: a Google integrity verdict must meet the realm's demands`() async throws {
        let world = try await FlagshipWorld([
            "play_integrity_demands": [
                "PLAY_RECOGNIZED", "MEETS_DEVICE_INTEGRITY", "LICENSED",
            ]
        ])
        #expect(try await verdict(world).status == .noContent)
        for part in ["deviceIntegrity", "accountDetails"] {
            #expect(try await verdict(world) { $0[part] = [:] }.status == .badRequest)
        }
        let answer = try await verdict(world) { verdict in
            var app = verdict["appIntegrity"]?.object ?? [:]
            app["appRecognitionVerdict"] = "UNRECOGNIZED_VERSION"
            verdict["appIntegrity"] = .object(app)
        }
        #expect(answer.status == .badRequest)
    }

    @Test func `COZ-07: a SafetyNet statement is refused by default, as the service has ended`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.register()
        for (platform, error): (JSON, JSON) in [
            ("android", "invalid attestation"), ("windows", "invalid platform"),
            (.null, "invalid platform"),
        ] {
            let answer = try await world.attest(
                app,
                [
                    "platform": platform, "attestation": "a.b.c",
                    "challenge": .string(try await world.challenge(app)),
                ])
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"] == error)
        }
    }
}
