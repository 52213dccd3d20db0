import Cryptography
import JSON
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.7 (registration) and 2.8 (Resp-1 to Resp-4 and Resp-7).
@Suite struct `A registration` {
    static func draft() throws -> Draft { Draft(.create, key: .es256(try .generate())) }

    static func refuse(_ wrong: Wrong) throws {
        var draft = try draft()
        _ = try Site.register(draft)
        try wrong.change(&draft)
        let changed = draft
        #expect(throws: wrong.failure) { try Site.register(changed) }
    }

    @Test func `a registration returns what the authenticator reported`() throws {
        var draft = try Self.draft()
        draft.flags = 0x5D
        draft.signCount = 7
        draft.model = Array(1...16)
        let kept = try Site.register(draft)
        #expect(kept.id == draft.credentialID)
        #expect(kept.publicKey == draft.key.cose.encoded)
        #expect(kept.algorithm == .es256)
        #expect(kept.signCount == 7)
        #expect(kept.backupEligible && kept.backedUp && kept.userVerified)
        #expect(kept.model == Array(1...16))
        #expect(kept.transports == ["hybrid", "internal"])
        #expect(kept.attestation.kind == .none && !kept.attestation.isTrusted)
    }

    @Test func `a registration accepts RSA and Ed25519 keys`() throws {
        let keys: [TestKey] = [.rs256(try .generate()), .ed25519(try .generate())]
        for key in keys {
            let kept = try Site.register(Draft(.create, key: key))
            #expect(kept.algorithm.rawValue == Int(key.algorithm))
        }
    }

    @Test func `a registration compares host names without case`() throws {
        let json = try Self.draft().json()
        func raised(_ json: JSON) -> JSON {
            guard case .object(let members) = json else { return json }
            return .object(
                JSONObject(
                    members.map { name, value in
                        (name.prefix(1).uppercased() + name.dropFirst(), raised(value))
                    }))
        }
        #expect(raised(json)["Response"]?["AttestationObject"] != nil)
        let attestation = try PublicKeyCredential.Attestation(raised(json))
        #expect(try attestation == PublicKeyCredential.Attestation(json))
    }

    @Test(arguments: structure) func `a malformed registration is refused`(_ wrong: Wrong) throws {
        try Self.refuse(wrong)
    }

    static let structure: [Wrong] =
        ["id", "rawId"].flatMap { name -> [Wrong] in
            let member: WebAuthnFailure.CredentialMember = name == "id" ? .id : .rawId
            return [
                Wrong("\(name) missing", .credentialMember(member, .missing)) {
                    $0.envelope = { $0[name] = nil }
                },
                Wrong("\(name) is null", .credentialMember(member, .missing)) {
                    $0.envelope = { $0[name] = .null }
                },
                Wrong("\(name) not a string", .credentialMember(member, .wrongType)) {
                    $0.envelope = { $0[name] = 1 }
                },
                Wrong("\(name) empty", .credentialMember(member, .empty)) {
                    $0.envelope = { $0[name] = "" }
                },
                Wrong("\(name) not base 64", .credentialMember(member, .malformed)) {
                    $0.envelope = { $0[name] = "a+/=" }
                },
                Wrong("\(name) twice", .credentialMember(member, .malformed)) {
                    $0.envelope = { $0[name.uppercased()] = $0[name] }
                },
            ]
        } + [
            Wrong("ids differ", .idsDiffer) { $0.envelope = { $0["id"] = "AAAA" } },
            Wrong("another id than the authenticator's", .otherCredential) {
                $0.envelope = {
                    $0["id"] = "AAAA"
                    $0["rawId"] = "AAAA"
                }
            },
            Wrong("type missing", .credentialMember(.type, .missing)) {
                $0.envelope = { $0["type"] = nil }
            },
            Wrong("type not a string", .credentialMember(.type, .wrongType)) {
                $0.envelope = { $0["type"] = [] }
            },
            Wrong("type other", .typeIsNotPublicKey) { $0.envelope = { $0["type"] = "password" } },
            Wrong("type in other letters", .typeIsNotPublicKey) {
                $0.envelope = { $0["type"] = "Public-Key" }
            },
            Wrong("response missing", .credentialMember(.response, .missing)) {
                $0.envelope = { $0["response"] = nil }
            },
            Wrong("response not an object", .credentialMember(.response, .wrongType)) {
                $0.envelope = { $0["response"] = "{}" }
            },
            Wrong("transports not a list", .credentialMember(.transports, .wrongType)) {
                $0.response = { $0["transports"] = "usb" }
            },
            Wrong("transports not words", .credentialMember(.transports, .wrongType)) {
                $0.response = { $0["transports"] = [1] }
            },
            Wrong("transports with markup", .credentialMember(.transports, .malformed)) {
                $0.response = { $0["transports"] = ["<b>"] }
            },
            Wrong("too many transports", .credentialMember(.transports, .tooLong)) {
                $0.response = { $0["transports"] = .array(Array(repeating: "usb", count: 17)) }
            },
        ] + responseBytes(.clientDataJSON) + responseBytes(.attestationObject)

    static func responseBytes(_ member: WebAuthnFailure.CredentialMember) -> [Wrong] {
        let name = member.rawValue
        return [
            Wrong("\(name) missing", .credentialMember(member, .missing)) {
                $0.response = { $0[name] = nil }
            },
            Wrong("\(name) not a string", .credentialMember(member, .wrongType)) {
                $0.response = { $0[name] = [:] }
            },
            Wrong("\(name) empty", .credentialMember(member, .empty)) {
                $0.response = { $0[name] = "" }
            },
            Wrong("\(name) not base 64", .credentialMember(member, .malformed)) {
                $0.response = { $0[name] = "*" }
            },
        ]
    }

    @Test(arguments: ClientDataCases.all(for: .create))
    func `a registration with faulty client data is refused`(_ wrong: Wrong) throws {
        try Self.refuse(wrong)
    }

    @Test(arguments: algorithms) func `a registration with a faulty key is refused`(
        _ wrong: Wrong
    ) throws {
        try Self.refuse(wrong)
    }

    static let algorithms: [Wrong] = [
        Wrong("key not a map", .publicKeyMalformed) { $0.publicKey = .array([]) },
        Wrong("no algorithm", .publicKeyMalformed) { $0.setKey(3, nil) },
        Wrong("algorithm a text", .publicKeyMalformed) { $0.setKey(3, .text("ES256")) },
        Wrong("algorithm of nobody", .algorithmUnknown) { $0.setKey(3, .integer(-999)) },
        Wrong("SHA-1", .algorithmUnknown) { $0.setKey(3, .integer(-65535)) },
        Wrong("another algorithm than the key's", .publicKeyMalformed) {
            $0.setKey(3, .integer(-257))
        },
        Wrong("another kind of key", .publicKeyMalformed) { $0.setKey(1, .integer(1)) },
        // What is the second coordinate here is the private exponent there.
        Wrong("a kind of key with a private part", .privateKeyDisclosed) {
            $0.setKey(1, .integer(3))
        },
        Wrong("another curve", .publicKeyMalformed) { $0.setKey(-1, .integer(2)) },
        Wrong("a point off the curve", .publicKeyMalformed) {
            $0.setKey(-2, .bytes([UInt8](repeating: 1, count: 32)))
        },
        Wrong("a short coordinate", .publicKeyMalformed) { $0.setKey(-2, .bytes([1])) },
        Wrong("a compressed point", .publicKeyMalformed) { $0.setKey(-3, .raw([0xF5])) },
        Wrong("no coordinate", .publicKeyMalformed) { $0.setKey(-3, nil) },
        Wrong("a key twice in the map", .authenticatorDataMalformed) { draft in
            draft.publicKey = .map(draft.key.members + [(.integer(3), .integer(-7))])
        },
    ]

    @Test func `a registration with an algorithm that was not offered is refused`() throws {
        let draft = Draft(.create, key: .ed25519(try .generate()))
        #expect(throws: WebAuthnFailure.algorithmNotOffered) {
            try Site.register(draft, algorithms: [-7, -257])
        }
    }

    @Test func `a registration without user verification is accepted where none is demanded`()
        throws
    {
        var draft = try Self.draft()
        draft.flags = 0x41
        #expect(try !Site.register(draft, requiresUserVerification: false).userVerified)
        draft.flags = 0x45
        #expect(try Site.register(draft, requiresUserVerification: false).userVerified)
    }

    @Test func `a registration from a foreign frame is refused`() throws {
        var draft = try Self.draft()
        draft.setClientData("crossOrigin", "true")
        let open = RelyingParty(
            id: Site.party.id, origins: Site.party.origins, allowsCrossOrigin: true,
            topOrigins: ["https://shop.example"])
        _ = try Site.register(draft, party: open)
        draft.setClientData("topOrigin", "\"https://shop.example\"")
        _ = try Site.register(draft, party: open)
        draft.setClientData("topOrigin", "\"https://shop.example.evil\"")
        #expect(throws: WebAuthnFailure.otherTopOrigin) { try Site.register(draft, party: open) }
        draft.setClientData("topOrigin", "\"https://shop.example\"")
        draft.setClientData("crossOrigin", "false")
        #expect(throws: WebAuthnFailure.otherTopOrigin) { try Site.register(draft, party: open) }
    }

    @Test func `a registration may come from an app or a page`() throws {
        var draft = try Self.draft()
        let app = "android:apk-key-hash:9Ia3F1CRyj2i6P1VHhUXxY3VJ9X2IuHpR4aXn0_wzSs"
        draft.setClientData("origin", "\"\(app)\"")
        let party = RelyingParty(id: Site.party.id, origins: [app])
        _ = try Site.register(draft, party: party)
        #expect(throws: WebAuthnFailure.otherOrigin) { try Site.register(draft) }
    }
}

extension Draft {
    mutating func setKey(_ label: Int64, _ value: Item?) {
        var members = key.members.filter { member in
            guard case .integer(label) = member.0 else { return true }
            return false
        }
        if let value { members.append((.integer(label), value)) }
        publicKey = .map(members)
    }
}
