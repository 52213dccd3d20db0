import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `The domain of a passkey` {
    private func at(_ origin: String, _ domain: String? = nil) -> (inout Draft) -> Void {
        { draft in
            draft.setClientData("origin", "\"\(origin)\"")
            if let domain { draft.relyingPartyID = domain }
        }
    }

    @Test func `MOD-08: a passkey's domain is the client's, within the realm's`() async throws {
        let world = try await PasskeyWorld(client: [
            "webauthn_rp_id": .string("wallet.\(PasskeyWorld.host)")
        ])
        let key = try SoftKey(of: world.account)
        let domain = "wallet.\(PasskeyWorld.host)"
        #expect(try await world.begin().options["rpId"] == .string(domain))
        #expect(try await world.begin("other").options["rpId"] == .string(PasskeyWorld.host))
        #expect(try await world.beginEnrollment().options["rp"]?["id"] == .string(domain))
        let enrolled = try await world.enroll(key, at("https://\(domain)", domain))
        #expect(enrolled.status == .ok)
        #expect(try await world.signIn(key, at("https://\(domain)", domain)).status == .ok)
        // In a client of the realm's domain it is not there.
        let other = try await world.signIn(key, client: "other", at("https://\(domain)", domain))
        #expect(`MOD-08 Signing in with a passkey`.isRefused(other))
        #expect(try await world.list().count == 1, "The list has those of every domain.")
    }

    @Test func `MOD-08: a passkey's domain outside the realm's is refused`() async throws {
        let world = try await PasskeyWorld()
        for domain in ["example.org", "evil.example", "org", "xlogin.example.org"] {
            await #expect(
                throws: RegisterClient.Rejection.invalid(
                    FieldFault(
                        "webauthn_rp_id",
                        domain == "org" ? .malformed : .conflicts(with: "primary_domain")))
            ) {
                try await world.world.carryOut(
                    RegisterClient(
                        id: UUID.random(), clientID: "evil",
                        metadata: [
                            "token_endpoint_auth_method": "none",
                            "grant_types": ["urn:cocoar:passkey"],
                            "webauthn_rp_id": .string(domain),
                        ]))
            }
        }
    }

    @Test func `MOD-08: a passkey's ceremony ends when the domain changes`() async throws {
        let (world, key) = try await `MOD-08 Signing in with a passkey`.signedUp()
        let begun = try await world.begin()
        let assertion = try key.assertion(begun)
        let changes: JSONObject = ["webauthn_rp_id": "example.org"]
        try await world.world.carryOut(RealmChange.setSettings(changes))
        world.world.directory.add(
            world.world.realm, hosts: ["id.acme.example"],
            changes.merging([
                "native_grants": true, "primary_domain": .string(PasskeyWorld.host),
            ]) { own, _ in own })
        #expect(try await world.begin().options["rpId"] == "example.org")
        let answer = try await world.redeem(begun.id, assertion)
        #expect(
            `MOD-08 Signing in with a passkey`.isRefused(
                answer, `MOD-08 Signing in with a passkey`.noCeremony))
    }

    @Test func `a passkey's domain accepts origins below it and configured ones`() async throws {
        let android = "android:apk-key-hash:\(Base64URL.encode(Array(0..<32)))"
        let (world, key) = try await `MOD-08 Signing in with a passkey`.signedUp([
            "passkey_origins": ["https://\(PasskeyWorld.host):8443", .string(android)]
        ])
        for origin in [
            "https://app.\(PasskeyWorld.host)", "https://a.b.\(PasskeyWorld.host)",
            "https://\(PasskeyWorld.host):8443", android,
        ] {
            #expect(try await world.signIn(key, at(origin)).status == .ok, "\(origin)")
        }
        for origin in [
            "http://app.\(PasskeyWorld.host)", "https://app.\(PasskeyWorld.host):444",
            "https://.\(PasskeyWorld.host)", "https://a/.\(PasskeyWorld.host)",
            "https://a@\(PasskeyWorld.host)", "https://A.\(PasskeyWorld.host)",
            "https://app.\(PasskeyWorld.host).", "\(android)x", "null",
        ] {
            #expect(try await world.signIn(key, at(origin)).status == .badRequest, "\(origin)")
            #expect(try await world.lastReason() == "otherOrigin")
        }
        let (narrow, own) = try await `MOD-08 Signing in with a passkey`.signedUp([
            "passkey_subdomains": false
        ])
        #expect(try await narrow.signIn(own).status == .ok)
        let below = try await narrow.signIn(own, at("https://app.\(PasskeyWorld.host)"))
        #expect(below.status == .badRequest)
    }

    @Test func `a passkey's domain may be localhost at any port`() async throws {
        let world = try await PasskeyWorld(["primary_domain": "localhost"])
        let key = try SoftKey(of: world.account)
        #expect(
            try await world.enroll(key, at("http://localhost:8080", "localhost")).status == .ok)
        for origin in ["http://localhost", "http://localhost:1", "https://localhost"] {
            #expect(try await world.signIn(key, at(origin, "localhost")).status == .ok)
        }
        for origin in [
            "http://localhost:", "http://localhost:080", "http://localhost:8080/",
            "http://127.0.0.1",
            "http://app.localhost:8080", "http://localhost.evil.example",
        ] {
            let answer = try await world.signIn(key, at(origin, "localhost"))
            #expect(answer.status == .badRequest, "\(origin)")
        }
    }
}

@Suite struct `The attestation that a realm asks for` {
    private func pem(_ der: [UInt8]) -> JSON {
        .string(
            "-----BEGIN CERTIFICATE-----\n\(Base64.encode(der))\n-----END CERTIFICATE-----\n")
    }

    private func vouch(_ maker: Maker) throws -> @Sendable (inout Draft) -> Void {
        let chain = try maker.chain()
        return { draft in
            draft.format = .text("packed")
            draft.statement = { Statement.packed(try maker.key.signDER($0.signed), chain) }
        }
    }

    @Test func `no attestation is asked for by default, and one that comes is verified`()
        async throws
    {
        let world = try await PasskeyWorld()
        let vouched = try vouch(try Maker())
        #expect(
            try await world.enroll(try SoftKey(of: world.account), vouched).status == .ok)
        let event = try #require(try await world.events("passkey.enrolled").last)
        #expect(event.open["format"] == "packed" && event.open["trusted"] == false)
        let broken = try await world.enroll(try SoftKey(of: world.account)) {
            vouched(&$0)
            $0.cutSignature()
            $0.signCount = 1
        }
        #expect(broken.json == ["Message": "Passkey enrollment failed."])
        #expect(try await world.lastReason() == "statement.signature")
    }

    @Test func `an attestation is accepted below a configured root`() async throws {
        let (maker, stranger) = (try Maker(), try Maker())
        let world = try await PasskeyWorld([
            "passkey_attestation": "direct",
            "passkey_attestation_roots": [pem(maker.authority.root)],
        ])
        #expect(try await world.beginEnrollment().options["attestation"] == "direct")
        let good = try await world.enroll(try SoftKey(of: world.account), try vouch(maker))
        #expect(good.status == .ok)
        #expect(
            try await world.events("passkey.enrolled").last?.open["trusted"] == true)
        let unknown = try await world.enroll(
            try SoftKey(of: world.account), try vouch(stranger))
        #expect(unknown.json == ["Message": "Passkey enrollment failed."])
        #expect(try await world.lastReason() == "chain.untrusted")
        _ = try await world.enroll(try SoftKey(of: world.account))
        #expect(try await world.lastReason() == "formatNotAccepted")
    }

    /// What an authority vouches in: whoever has a root for one format has no say in another.
    @Test func `an attestation under a root of another format is refused`() async throws {
        let (maker, apple) = (try Maker(), try Maker())
        let roots: [JSON] = [
            .string("packed:\(Base64.encode(maker.authority.root))"),
            .string("apple:\(Base64.encode(apple.authority.root))"),
        ]
        let world = try await PasskeyWorld([
            "passkey_attestation": "direct", "passkey_attestation_roots": .array(roots),
        ])
        let good = try await world.enroll(try SoftKey(of: world.account), try vouch(maker))
        #expect(good.status == .ok)
        let other = try await world.enroll(try SoftKey(of: world.account), try vouch(apple))
        #expect(other.json == ["Message": "Passkey enrollment failed."])
        #expect(try await world.lastReason() == "chain.untrusted")
        // Nor where its root is the only one, so that no other one of its name can come before it.
        let alone = try await PasskeyWorld([
            "passkey_attestation": "direct", "passkey_attestation_roots": .array([roots[1]]),
        ])
        let foreign = try await alone.enroll(try SoftKey(of: alone.account), try vouch(apple))
        #expect(foreign.json == ["Message": "Passkey enrollment failed."])
        #expect(try await alone.lastReason() == "chain.untrusted")
    }

    @Test
    func
        `a root without a format serves a realm's single format, else makers alone`()
        throws
    {
        let text = Base64.encode(try Maker().authority.root)
        let plain = try #require(AttestationRoot(text))
        #expect(plain.formats(of: []) == ["packed", "fido-u2f"])
        #expect(plain.formats(of: ["apple"]) == ["apple"])
        #expect(plain.formats(of: ["apple", "tpm"]) == ["packed", "fido-u2f"])
        let named = try #require(AttestationRoot("android-key:\(text)"))
        #expect(named.formats(of: ["apple"]) == ["android-key"] && named.der == plain.der)
        for wrong in ["none:\(text)", "apple", "apple:", "apple:AAAA", ":\(text)"] {
            #expect(AttestationRoot(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `an attestation of a listed format is accepted without a list of roots`()
        async throws
    {
        let world = try await PasskeyWorld([
            "passkey_attestation": "direct", "passkey_attestation_formats": ["tpm", "packed"],
        ])
        let vouched = try vouch(try Maker())
        #expect(
            try await world.enroll(try SoftKey(of: world.account), vouched).status == .ok)
        let narrow = try await PasskeyWorld([
            "passkey_attestation": "direct", "passkey_attestation_formats": ["apple"],
        ])
        _ = try await narrow.enroll(try SoftKey(of: narrow.account), vouched)
        #expect(try await narrow.lastReason() == "formatNotAccepted")
    }

    @Test func `an attestation is refused where a configured root is not a certificate`()
        async throws
    {
        let der: [UInt8] = [0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 5, count: 256)
        let world = try await PasskeyWorld([
            "passkey_attestation": "direct", "passkey_attestation_roots": [pem(der)],
        ])
        _ = try await world.enroll(try SoftKey(of: world.account), try vouch(try Maker()))
        #expect(try await world.lastReason() == "attestation_roots_unreadable")
    }
}
