import EventSourcing
import HTTP
import Identity
import JSON
import SecurityKeys
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `MOD-08 Signing in with a passkey` {
    static func signedUp(
        _ settings: JSONObject = [:]
    ) async throws -> (PasskeyWorld, SoftKey) {
        let world = try await PasskeyWorld(settings)
        let key = try SoftKey(of: world.account)
        #expect(try await world.enroll(key).status == .ok)
        return (world, key)
    }

    static func isRefused(
        _ answer: Answered, _ text: String = "Passkey verification failed."
    ) -> Bool {
        answer.status == .badRequest && answer.json["error"] == "invalid_grant"
            && answer.json["error_description"] == .string(text)
    }

    static let noCeremony = "Invalid or expired passkey ceremony."

    @Test func `MOD-08: a passkey sign-in begins with the options of WebAuthn`() async throws {
        let world = try await PasskeyWorld()
        let before = try await world.world.events().count
        for client in ["wallet", nil, "nobody"] {
            let begun = try await world.begin(client)
            #expect(begun.options["rpId"] == .string(PasskeyWorld.host))
            #expect(begun.options["userVerification"] == "required")
            #expect(begun.options["allowCredentials"] == [])
            #expect(begun.options["timeout"] == 300_000)
            #expect(begun.challenge.count == 32)
        }
        #expect(try await world.world.events().count == before, "Nothing is written.")
    }

    @Test func `MOD-08: a passkey sign-in gives tokens of the passkey's account`() async throws {
        let (world, key) = try await Self.signedUp()
        let answer = try await world.signIn(key)
        #expect(answer.status == .ok)
        #expect(answer.json["refresh_token"] != nil)
        let token = try #require(answer.json["access_token"]?.string)
        let who = try await world.world.userInfo(token).json
        #expect(who["sub"] == .string(world.account.description))
        let opened = try #require(try await world.events("session.opened").last)
        #expect(opened.open["amr"] == ["hwk"])
        #expect(try await world.list(token: token).first?["LastUsedAt"] != nil)
    }

    @Test func `MOD-08: a passkey ceremony of a client is that client's, of none is any client's`()
        async throws
    {
        let (world, key) = try await Self.signedUp()
        let free = try await world.begin(nil)
        let answer = try await world.redeem(free.id, try key.assertion(free), client: "other")
        #expect(answer.status == .ok)
        let bound = try await world.begin("wallet")
        let assertion = try key.assertion(bound)
        let foreign = try await world.redeem(bound.id, assertion, client: "other")
        #expect(Self.isRefused(foreign, Self.noCeremony))
        #expect(try await world.redeem(bound.id, assertion).status == .ok)
        // What was begun to enrol one signs nobody in.
        let enrollment = try await world.beginEnrollment()
        let crossed = try await world.redeem(enrollment.id, try key.assertion(enrollment))
        #expect(Self.isRefused(crossed, Self.noCeremony))
    }

    @Test func `MOD-08: a passkey ceremony is used up by a malformed answer too`() async throws {
        let (world, key) = try await Self.signedUp()
        let begun = try await world.begin()
        let assertion = try key.assertion(begun)
        #expect(try await world.redeem(begun.id, assertion).status == .ok)
        #expect(Self.isRefused(try await world.redeem(begun.id, assertion), Self.noCeremony))
        #expect(try await world.lastReason() == "ceremony_used")
        for garbage in ["{}", "x", "[]", "{\"id\":\"AAAA\"}"] {
            let begun = try await world.begin()
            #expect(Self.isRefused(try await world.redeem(begun.id, garbage)))
            let late = try await world.redeem(begun.id, try key.assertion(begun))
            #expect(Self.isRefused(late, Self.noCeremony))
        }
        let empty = try await world.begin()
        #expect(Self.isRefused(try await world.redeem(empty.id, ""), Self.noCeremony))
        let filled = try await world.redeem(empty.id, try key.assertion(empty))
        #expect(Self.isRefused(filled, Self.noCeremony))
        let sessions = try await world.events("session.refused").map(\.stream)
        #expect(Set(sessions).count == sessions.count, "Each attempt has a name of its own.")
    }

    @Test func `MOD-08: a passkey ceremony is used up by a request for unknown scopes too`()
        async throws
    {
        let (world, key) = try await Self.signedUp()
        for (name, value, error, reason) in [
            ("scope", "bogus", "invalid_scope", "scope_refused"),
            ("resource", "no address", "invalid_target", "resource_refused"),
        ] {
            let begun = try await world.begin()
            let assertion = try key.assertion(begun)
            let ask = { (ceremony: String) in
                try await world.world.post(
                    "/connect/token",
                    form: [
                        ("grant_type", "urn:cocoar:passkey"), ("client_id", "wallet"),
                        ("ceremony_id", ceremony), ("assertion", assertion), (name, value),
                    ])
            }
            #expect(try await ask(begun.id).json["error"] == .string(error))
            #expect(try await world.lastReason() == reason)
            let late = try await world.redeem(begun.id, assertion)
            #expect(Self.isRefused(late, Self.noCeremony))
            // For one that somebody made up nothing is written.
            let before = try await world.world.events().count
            #expect(try await ask(UUID.random().description).status == .badRequest)
            #expect(try await world.world.events().count == before)
        }
    }

    @Test func `MOD-08: a made-up passkey ceremony is not recorded`() async throws {
        let (world, key) = try await Self.signedUp()
        let begun = try await world.begin()
        let assertion = try key.assertion(begun)
        let before = try await world.world.events().count
        var random = SystemRandomNumberGenerator()
        let invented = UUID.v7(at: world.world.clock.next(), using: &random).description
        for id in [invented, UUID.random().description, "x", ""] {
            #expect(Self.isRefused(try await world.redeem(id, assertion), Self.noCeremony))
        }
        #expect(try await world.world.events().count == before)
        world.world.clock.advance(seconds: 300)
        #expect(Self.isRefused(try await world.redeem(begun.id, assertion), Self.noCeremony))
        #expect(try await world.lastReason() == "ceremony_expired")
    }

    @Test func `MOD-08: a passkey ceremony used fifty times at once signs in once`() async throws {
        let (world, key) = try await Self.signedUp()
        let begun = try await world.begin()
        let assertion = try key.assertion(begun)
        let answers = try await withThrowingTaskGroup(of: Answered.self) { group in
            for _ in 0..<50 { group.addTask { try await world.redeem(begun.id, assertion) } }
            return try await group.reduce(into: [Answered]()) { $0.append($1) }
        }
        #expect(answers.count { $0.status == .ok } == 1)
        #expect(answers.count { Self.isRefused($0, Self.noCeremony) } == 49)
        #expect(try await world.events("passkey.used").count == 1)
    }

    @Test(arguments: bad) func `MOD-08: a faulty passkey assertion is refused`(_ wrong: Wrong)
        async throws
    {
        let (world, key) = try await Self.signedUp()
        #expect(Self.isRefused(try await world.signIn(key, wrong.change)))
        #expect(try await world.lastReason() == wrong.failure.description)
        #expect(try await world.events("passkey.used").isEmpty)
    }

    /// One of each class of SECURITY.md 2.7 and 2.8; `SecurityKeysTests` has them all.
    static let bad: [Wrong] = [
        Wrong("type missing", .credentialMember(.type, .missing)) {
            $0.envelope = { $0["type"] = nil }
        },
        Wrong("the other ceremony", .otherCeremony) {
            $0.setClientData("type", "\"webauthn.create\"")
        },
        Wrong("another challenge", .otherChallenge) { $0.setClientData("challenge", "\"AAAA\"") },
        Wrong("another scheme", .otherOrigin) {
            $0.setClientData("origin", "\"http://login.example.org\"")
        },
        Wrong("another port", .otherOrigin) {
            $0.setClientData("origin", "\"https://login.example.org:8443\"")
        },
        Wrong("this machine", .otherOrigin) {
            $0.setClientData("origin", "\"http://localhost:8080\"")
        },
        Wrong("in a frame of others", .crossOrigin) { $0.setClientData("crossOrigin", "true") },
        Wrong("another relying party", .otherRelyingParty) { $0.relyingPartyID = "example.org" },
        Wrong("user not present", .userNotPresent) { $0.flags = 0x04 },
        Wrong("user not verified", .userNotVerified) { $0.flags = 0x01 },
        Wrong("backed up but not eligible", .backedUpWithoutEligibility) { $0.flags = 0x15 },
        Wrong("eligible of a sudden", .backupEligibilityChanged) { $0.flags = 0x0D },
        Wrong("of another user", .otherUser) {
            $0.userHandle = .string(Base64URL.encode([7, 7, 8]))
        },
        Wrong("of nobody", .userHandleMissing) { $0.userHandle = nil },
        Wrong("bytes left over", .authenticatorDataTrailing) { $0.trailing = [0] },
        Wrong("signed other data", .signature) { draft in
            draft.signature = { try $0.key.sign($0.authenticatorData) }
        },
    ]

    @Test
    func `MOD-08: a passkey with a counter that does not grow, or an unknown one, is refused`()
        async throws
    {
        let (world, key) = try await Self.signedUp()
        for (count, isTaken) in [
            (0, true), (0, true), (7, true), (7, false), (6, false), (8, true),
        ] {
            let answer = try await world.signIn(key) { $0.signCount = UInt32(count) }
            #expect((answer.status == .ok) == isTaken, "\(count)")
            if !isTaken { #expect(try await world.lastReason() == "counter_went_back") }
        }
        #expect(Self.isRefused(try await world.signIn(try SoftKey(of: world.account))))
        #expect(try await world.lastReason() == "unknown_passkey")
    }

    @Test func `MOD-08: a passkey of a blocked account, or a removed one, is refused`() async throws
    {
        let (world, key) = try await Self.signedUp()
        let begun = try await world.begin()
        let id = try #require(try await world.list().first?["Id"]?.string)
        try await world.world.carryOut(AccountChange.disable(world.account))
        #expect(Self.isRefused(try await world.redeem(begun.id, try key.assertion(begun))))
        #expect(try await world.lastReason() == "account_blocked")
        try await world.world.carryOut(AccountChange.enable(world.account))
        #expect(try await world.signIn(key).status == .ok)
        let (token, _) = try await PasskeyWorld.signIn("ann@example.org", world.world)
        let gone = try await world.send(.delete, "/connect/passkey/\(id)", token: token)
        #expect(gone.status == .noContent)
        #expect(Self.isRefused(try await world.signIn(key)))
        #expect(try await world.lastReason() == "unknown_passkey")
    }

    @Test func `MOD-08: a cached passkey is checked against the log`()
        async throws
    {
        let (world, key) = try await Self.signedUp()
        #expect(try await world.signIn(key).status == .ok)
        let first = try #require(try await world.list().first?["Id"]?.string)
        let gone = try await world.send(.delete, "/connect/passkey/\(first)")
        #expect(gone.status == .noContent)
        // The same credential again, which makes another passkey.
        #expect(try await world.enroll(key).status == .ok)
        #expect(try await world.list().first?["Id"]?.string != first)
        for _ in 1...2 { #expect(try await world.signIn(key).status == .ok) }
        #expect(try await world.events("session.refused").isEmpty)
        // Another key under its name is not what is remembered, and not what is known.
        let begun = try await world.begin()
        let forged = try SoftKey(of: world.account, id: key.id)
        #expect(Self.isRefused(try await world.redeem(begun.id, try forged.assertion(begun))))
        #expect(try await world.signIn(key).status == .ok)
    }

    @Test func `MOD-08: a passkey needs an authenticator that verified its user at enrollment`()
        async throws
    {
        let world = try await PasskeyWorld()
        let key = try SoftKey(of: world.account)
        #expect(try await world.enroll(key) { $0.flags = 0x41 }.status == .ok)
        #expect(Self.isRefused(try await world.signIn(key)))
        #expect(try await world.lastReason() == "enrolled_without_user_verification")
    }

    @Test func `MOD-08: a passkey sign-in needs an allowed client in an allowing realm`()
        async throws
    {
        let (world, key) = try await Self.signedUp()
        let begun = try await world.begin("phone")
        let assertion = try key.assertion(begun)
        let phone = try await world.redeem(begun.id, assertion, client: "phone")
        #expect(phone.json["error"] == "unauthorized_client")
        let closed = try await PasskeyWorld()
        closed.world.directory.add(
            closed.world.realm, hosts: ["id.acme.example"], ["native_grants": false])
        let off = try await closed.world.post(
            "/connect/passkey/begin", form: [("client_id", "wallet")])
        #expect(off.status == .badRequest)
        #expect(off.json["title"] == "NativeGrants.Disabled")
        let homeless = try await PasskeyWorld(["primary_domain": .null])
        let nowhere = try await homeless.world.post("/connect/passkey/begin", form: [])
        #expect(nowhere.status == .serviceUnavailable)
        #expect(nowhere.json["title"] == "Passkey.Unavailable")
    }

    @Test func `MOD-08: a passkey sign-in begins without a body as well`() async throws {
        let world = try await PasskeyWorld()
        let answer = try await world.world.send(
            Request(
                method: .post, path: "/connect/passkey/begin", query: nil,
                headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.7", id: "r"))
        _ = try Begun(answer)
    }
}
