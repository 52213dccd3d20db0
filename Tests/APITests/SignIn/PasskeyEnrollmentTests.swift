import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import SecurityKeys
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `MOD-09 Enrolling a passkey` {
    @Test func `MOD-09: enrolling a passkey begins with the options of WebAuthn`() async throws {
        let world = try await PasskeyWorld()
        let first = try await world.beginEnrollment()
        let options = first.options
        #expect(options["rp"] == ["id": .string(PasskeyWorld.host), "name": "Acme"])
        #expect(options["user"]?["name"] == "ann@example.org")
        #expect(
            options["user"]?["id"]?.string
                == Base64URL.encode(Array(world.account.description.utf8)))
        #expect(options["attestation"] == "none")
        #expect(options["authenticatorSelection"]?["residentKey"] == "preferred")
        #expect(options["authenticatorSelection"]?["userVerification"] == "preferred")
        #expect(options["excludeCredentials"] == [])
        #expect(options["timeout"] == 300_000)
        #expect(first.challenge.count == 32)
        #expect(
            options["pubKeyCredParams"]?.array?.compactMap { $0["alg"]?.integer }
                == [-7, -8, -257])
        let second = try await world.beginEnrollment()
        #expect(second.id != first.id && second.challenge != first.challenge)
        #expect(UUID(first.id)?.version == 7)
        #expect(try await world.events("passkey.enrolled").isEmpty, "Nothing is kept yet.")
    }

    @Test func `MOD-09: an enrolled passkey is excluded by the next options`() async throws {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        let answer = try await world.enroll(key)
        #expect(answer.status == .ok)
        #expect(answer.json == ["Message": "Passkey enrolled successfully."])
        let excluded = try await world.beginEnrollment().options["excludeCredentials"]
        #expect(excluded?[0]?["id"]?.string == Base64URL.encode(key.id))
        #expect(excluded?[0]?["type"] == "public-key")
        let event = try #require(try await world.events("passkey.enrolled").first)
        #expect(event.open["mail"]?.string.flatMap { UUID($0) } != nil, "Its owner is told.")
        #expect(event.actor == "user:\(world.account)")
    }

    /// Promise 9: what the log keeps of a key anybody may read.
    @Test
    func `MOD-09: an enrolled passkey's key is stored with its public members alone`()
        async throws
    {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        let secret: [UInt8] = Array("this half is nobody's business!!".utf8)
        let disclosed = try await world.enroll(key) {
            $0.publicKey = .map($0.key.members + [(.integer(-4), .bytes(secret))])
        }
        #expect(disclosed.json == ["Message": "Passkey enrollment failed."])
        #expect(try await world.lastReason() == "privateKeyDisclosed")
        let more = try await world.enroll(key) {
            $0.publicKey = .map($0.key.members + [(.integer(2), .bytes(secret))])
        }
        #expect(more.status == .ok)
        let kept = try #require(
            try await world.events("passkey.enrolled").last?.open["public_key"]?.string)
        #expect(kept == Base64URL.encode(key.key.cose.encoded))
        #expect(try await world.signIn(key).status == .ok)
    }

    @Test func `MOD-09: enrolling a passkey answers faults without details`()
        async throws
    {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        let request: [JSON] = [
            [:], ["ceremonyId": 1, "attestation": [:]], ["ceremonyId": "x", "attestation": [:]],
            ["ceremonyId": .string(UUID.random().description)],
            ["ceremonyId": .string(UUID.random().description), "attestation": .null],
        ]
        for body in request {
            let answer = try await world.send(.post, "/connect/passkey/enroll", body)
            #expect(answer.status == .badRequest)
            #expect(answer.json == ["Message": "Invalid enrollment request."], "\(body)")
        }
        let begun = try await world.beginEnrollment()
        let attestation = try key.attestation(begun)
        for id in [UUID.random().description, try await world.begin().id] {
            let answer = try await world.send(
                .post, "/connect/passkey/enroll",
                ["ceremonyId": .string(id), "attestation": attestation])
            #expect(answer.json == ["Message": .string(Self.expired)])
        }
        #expect(try await world.events("passkey.enrollment_refused").isEmpty, "No noise.")
        for broken: JSON in ["text", [:], ["id": "AA"], []] {
            let begun = try await world.beginEnrollment()
            let answer = try await world.enroll(begun, broken)
            #expect(answer.status == .badRequest)
            #expect(answer.json == ["Message": "Invalid attestation response."])
            // It is used up by that, whatever comes now.
            let again = try await world.enroll(begun, try key.attestation(begun))
            #expect(again.json == ["Message": .string(Self.expired)])
        }
        #expect(try await world.enroll(begun, attestation).status == .ok)
    }

    private static let expired = "Enrollment session expired. Please try again."

    @Test func `MOD-09: enrolling a passkey expires after five minutes and is for one account`()
        async throws
    {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        let late = try await world.beginEnrollment()
        world.world.clock.advance(seconds: 300)
        let answer = try await world.enroll(late, try key.attestation(late))
        #expect(answer.json == ["Message": .string(Self.expired)])
        #expect(try await world.lastReason() == "ceremony_expired")
        let (bob, _) = try await PasskeyWorld.signIn("bob@example.org", world.world)
        let begun = try await world.beginEnrollment()
        let foreign = try await world.enroll(begun, try key.attestation(begun), token: bob)
        #expect(foreign.json == ["Message": .string(Self.expired)])
        #expect(try await world.enroll(begun, try key.attestation(begun)).status == .ok)
    }

    @Test func `MOD-09: a credential is enrolled once in a realm, until it is removed`()
        async throws
    {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        #expect(try await world.enroll(key).status == .ok)
        let (bob, _) = try await PasskeyWorld.signIn("bob@example.org", world.world)
        for token in [world.token, bob] {
            let answer = try await world.enroll(key, token: token)
            #expect(answer.status == .badRequest)
            #expect(answer.json == ["Message": "Passkey enrollment failed."])
            #expect(try await world.lastReason() == "credential_taken")
        }
        let id = try #require(try await world.list().first?["Id"]?.string)
        #expect(try await world.send(.delete, "/connect/passkey/\(id)").status == .noContent)
        #expect(try await world.enroll(key, token: bob).status == .ok)
    }

    @Test(arguments: bad) func `MOD-09: a faulty enrollment is refused`(_ wrong: Wrong) async throws
    {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        let begun = try await world.beginEnrollment()
        let answer = try await world.enroll(begun, try key.attestation(begun, wrong.change))
        #expect(answer.status == .badRequest)
        #expect(answer.json["Message"]?.string?.hasPrefix("Passkey enrollment failed.") == true)
        #expect(try await world.lastReason() == wrong.failure.description)
        #expect(try await world.list().isEmpty)
    }

    /// One of each class of SECURITY.md 2.7 and 2.8; `SecurityKeysTests` has them all.
    static let bad: [Wrong] = [
        Wrong("the other ceremony", .otherCeremony) {
            $0.setClientData("type", "\"webauthn.get\"")
        },
        Wrong("another challenge", .otherChallenge) { $0.setClientData("challenge", "\"AAAA\"") },
        Wrong("another scheme", .otherOrigin) {
            $0.setClientData("origin", "\"http://login.example.org\"")
        },
        Wrong("another port", .otherOrigin) {
            $0.setClientData("origin", "\"https://login.example.org:8443\"")
        },
        Wrong("a domain that ends alike", .otherOrigin) {
            $0.setClientData("origin", "\"https://evil-login.example.org\"")
        },
        Wrong("a domain above", .otherOrigin) {
            $0.setClientData("origin", "\"https://example.org\"")
        },
        Wrong("in a frame of others", .crossOrigin) { $0.setClientData("crossOrigin", "true") },
        Wrong("another relying party", .otherRelyingParty) { $0.relyingPartyID = "example.org" },
        Wrong("user not present", .userNotPresent) { $0.flags = 0x44 },
        Wrong("backed up but not eligible", .backedUpWithoutEligibility) { $0.flags = 0x55 },
        Wrong("an unknown format", .formatUnknown) { $0.format = .text("safetynet") },
        Wrong("a statement in none", .statement(.notEmpty)) {
            $0.statement = { _ in .map([(.text("alg"), .integer(-7))]) }
        },
        Wrong("bytes left over", .authenticatorDataTrailing) { $0.trailing = [0] },
        Wrong("an algorithm that was not offered", .algorithmNotOffered) { draft in
            let key = TestKey.rs256(try .pooled())
            draft.publicKey = .map(
                key.members.map { name, value in
                    guard case .integer(3) = name else { return (name, value) }
                    return (name, .integer(-258))
                })
        },
    ]

    @Test func `MOD-09: enrolling a passkey is rate-limited and needs native grants`() async throws
    {
        let world = try await PasskeyWorld()
        for _ in 0..<60 { _ = try await world.beginEnrollment() }
        let answer = try await world.send(.post, "/connect/passkey/enroll/begin")
        #expect(answer.status == .tooManyRequests)
        #expect(answer.json["policy"] == "passkey-begin")
        #expect(answer.response.headers["Retry-After"] != nil)
        let closed = try await PasskeyWorld()
        closed.world.directory.add(
            closed.world.realm, hosts: ["id.acme.example"], ["native_grants": false])
        for (method, path) in [
            (Method.post, "/connect/passkey/enroll/begin"), (.post, "/connect/passkey/enroll"),
            (.get, "/connect/passkey"), (.delete, "/connect/passkey/\(UUID.random())"),
        ] {
            let body: JSON? = path.hasSuffix("enroll") ? [:] : nil
            let answer = try await closed.send(method, path, body)
            #expect(answer.status == .badRequest, "\(path)")
            #expect(answer.json["title"] == "NativeGrants.Disabled")
            let nobody = try await closed.send(method, path, body, token: "urd_at_x")
            #expect(nobody.status == .unauthorized)
        }
    }

    @Test func `MOD-09: enrolling a passkey needs a domain`() async throws {
        let world = try await PasskeyWorld(["primary_domain": .null])
        let answer = try await world.send(.post, "/connect/passkey/enroll/begin")
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.json["title"] == "Passkey.Unavailable")
    }

    @Test func `MOD-09: enrolling a passkey needs a recent sign-in`() async throws {
        let world = try await PasskeyWorld(["recent_sign_in": 600])
        let key = try SoftKey(of: world.account)
        world.world.clock.advance(seconds: 500)
        let begun = try await world.beginEnrollment()
        #expect(try await world.enroll(key).status == .ok)
        let id = try #require(try await world.list().first?["Id"]?.string)
        world.world.clock.advance(seconds: 101)
        for answer in [
            try await world.send(.post, "/connect/passkey/enroll/begin"),
            try await world.enroll(begun, try key.attestation(begun)),
            try await world.send(.delete, "/connect/passkey/\(id)"),
        ] {
            #expect(answer.status == .unauthorized)
            let challenge = answer.response.headers["WWW-Authenticate"] ?? ""
            #expect(challenge.contains(#"error="insufficient_user_authentication""#))
            #expect(challenge.hasSuffix(#", max_age="600""#))
        }
        #expect(try await world.list().count == 1, "It may still be looked at.")
    }
}
