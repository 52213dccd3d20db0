import Cryptography
import JSON
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.7 (authentication) and 2.8 (GetAssertion Resp-1 to Resp-3).
@Suite struct `A use of a key` {
    static func draft() throws -> Draft { Draft(.get, key: .es256(try .generate())) }

    static func refuse(_ wrong: Wrong) throws {
        var draft = try draft()
        _ = try Site.use(draft)
        try wrong.change(&draft)
        let changed = draft
        #expect(throws: wrong.failure) { try Site.use(changed) }
    }

    @Test func `an assertion of a key of each kind is accepted`() throws {
        let keys: [TestKey] = [
            .es256(try .generate()), .rs256(try .generate()), .ed25519(try .generate()),
        ]
        for key in keys {
            let outcome = try Site.use(Draft(.get, key: key))
            #expect(outcome.userVerified && !outcome.backedUp && !outcome.counterWentBack)
            var forged = Draft(.get, key: key)
            forged.signature = { draft in try draft.key.sign(draft.signed + [0]) }
            let changed = forged
            #expect(throws: WebAuthnFailure.signature) { try Site.use(changed) }
        }
    }

    @Test func `an assertion is read from JSON`() throws {
        let draft = try Self.draft()
        let json = try draft.json()
        let parsed = try PublicKeyCredential.Assertion(text: json.canonical())
        #expect(try parsed == PublicKeyCredential.Assertion(json))
        #expect(parsed.userHandle == Draft.storedHandle)
        for text in ["", "[]", "\"x\"", "{\"id\":1.5}", "{\"id\":\"AA\",\"id\":\"AA\"}"] {
            #expect(throws: WebAuthnFailure.credentialMalformed) {
                try PublicKeyCredential.Assertion(text: Array(text.utf8))
            }
        }
    }

    @Test(arguments: structure) func `a malformed assertion is refused`(_ wrong: Wrong) throws {
        try Self.refuse(wrong)
    }

    static let structure: [Wrong] =
        [
            Wrong("id missing", .credentialMember(.id, .missing)) {
                $0.envelope = { $0["id"] = nil }
            },
            Wrong("id not a string", .credentialMember(.id, .wrongType)) {
                $0.envelope = { $0["id"] = [:] }
            },
            Wrong("id not base 64", .credentialMember(.id, .malformed)) {
                $0.envelope = { $0["id"] = "a b" }
            },
            Wrong("type missing", .credentialMember(.type, .missing)) {
                $0.envelope = { $0["type"] = nil }
            },
            Wrong("type not a string", .credentialMember(.type, .wrongType)) {
                $0.envelope = { $0["type"] = 0 }
            },
            Wrong("type other", .typeIsNotPublicKey) { $0.envelope = { $0["type"] = "public" } },
            Wrong("response missing", .credentialMember(.response, .missing)) {
                $0.envelope = { $0["response"] = nil }
            },
            Wrong("response not an object", .credentialMember(.response, .wrongType)) {
                $0.envelope = { $0["response"] = [] }
            },
            Wrong("userHandle not a string", .credentialMember(.userHandle, .wrongType)) {
                $0.userHandle = [:]
            },
            Wrong("userHandle empty", .credentialMember(.userHandle, .empty)) {
                $0.userHandle = ""
            },
            Wrong("userHandle not base 64", .credentialMember(.userHandle, .malformed)) {
                $0.userHandle = "="
            },
        ] + `A registration`.responseBytes(.clientDataJSON)
        + `A registration`.responseBytes(.authenticatorData)
        + `A registration`.responseBytes(.signature)

    @Test(arguments: ClientDataCases.all(for: .get))
    func `an assertion with faulty client data is refused`(_ wrong: Wrong) throws {
        try Self.refuse(wrong)
    }

    @Test(arguments: content) func `an assertion with any fault is refused`(_ wrong: Wrong) throws {
        try Self.refuse(wrong)
    }

    static let content: [Wrong] = [
        Wrong("with an attested credential", .attestedCredentialPresent) {
            $0.flags = 0x45
            $0.attested = true
        },
        Wrong("with the flag and no credential", .authenticatorDataMalformed) { $0.flags = 0x45 },
        Wrong("another credential", .otherCredential) { $0.credentialID = [1, 2, 3] },
        Wrong("of another user", .otherUser) {
            $0.userHandle = .string(Base64URL.encode([7, 7, 8]))
        },
        Wrong("of nobody", .userHandleMissing) { $0.userHandle = nil },
        Wrong("a null for a user", .userHandleMissing) { $0.userHandle = .null },
        Wrong("authenticator data short", .authenticatorDataMalformed) { draft in
            let data = Base64URL.encode(Array(draft.authenticatorData.dropLast()))
            draft.response = { $0["authenticatorData"] = .string(data) }
        },
        Wrong("bytes left over", .authenticatorDataTrailing) { $0.trailing = [0] },
        Wrong("another relying party", .otherRelyingParty) { $0.relyingPartyID = "example.org" },
        Wrong("user not present", .userNotPresent) { $0.flags = 0x04 },
        Wrong("user not verified", .userNotVerified) { $0.flags = 0x01 },
        Wrong("backed up but not eligible", .backedUpWithoutEligibility) { $0.flags = 0x15 },
        Wrong("eligible of a sudden", .backupEligibilityChanged) { $0.flags = 0x0D },
        Wrong("signed other data", .signature) { draft in
            draft.signature = { try $0.key.sign($0.authenticatorData) }
        },
        Wrong("signed other client data", .signature) { draft in
            draft.signature = { try $0.key.sign($0.authenticatorData + SHA256.hash([1])) }
        },
        Wrong("signed by another key", .signature) { draft in
            draft.signature = { try ES256.PrivateKey.generate().signDER($0.signed) }
        },
        Wrong("a signature as JOSE has it", .signature) { draft in
            draft.signature = { draft in
                guard case .es256(let key) = draft.key else { return [] }
                return try key.sign(draft.signed)
            }
        },
        Wrong("zeros for a signature", .signature) { draft in
            draft.signature = { _ in ASN1.sequence(ASN1.integer(0), ASN1.integer(0)) }
        },
        Wrong("bytes behind the signature", .signature) { draft in
            draft.signature = { try $0.key.sign($0.signed) + [0] }
        },
        Wrong("a signature of 21,830 bytes", .signature) { draft in
            draft.signature = { _ in
                [0x30, 0x82, 0x55, 0x42] + [UInt8](repeating: 2, count: 21_826)
            }
        },
    ]

    @Test func `an assertion must name its user where none was known`() throws {
        var draft = try Self.draft()
        draft.userHandle = nil
        _ = try Site.use(draft, identifiesUser: false)
        draft.userHandle = .string(Base64URL.encode([1]))
        let other = draft
        #expect(throws: WebAuthnFailure.otherUser) { try Site.use(other, identifiesUser: false) }
    }

    @Test func `an assertion must use one of the requested credentials`() throws {
        let draft = try Self.draft()
        _ = try Site.use(draft, allowed: [[1], draft.credentialID])
        #expect(throws: WebAuthnFailure.credentialNotAllowed) {
            try Site.use(draft, allowed: [[1], [2]])
        }
    }

    @Test(
        arguments: [
            (0, 0, false), (0, 1, false), (1, 2, false), (1, 1, true), (2, 1, true), (1, 0, true),
            (UInt32.max, 0, true), (UInt32.max - 1, UInt32.max, false),
        ] as [(UInt32, UInt32, Bool)])
    func `an assertion reports a counter that went back`(
        _ stored: UInt32, _ new: UInt32, _ isBack: Bool
    ) throws {
        var draft = try Self.draft()
        draft.signCount = new
        let outcome = try Site.use(draft, signCount: stored)
        #expect(outcome.counterWentBack == isBack)
        #expect(outcome.signCount == new)
    }

    @Test func `an assertion reports whether the key is backed up`() throws {
        var draft = try Self.draft()
        draft.flags = 0x0D
        #expect(try !Site.use(draft, backupEligible: true).backedUp)
        draft.flags = 0x1D
        #expect(try Site.use(draft, backupEligible: true).backedUp)
        draft.flags = 0x05
        let lost = draft
        #expect(throws: WebAuthnFailure.backupEligibilityChanged) {
            try Site.use(lost, backupEligible: true)
        }
    }

    @Test func `an assertion may lack user verification where none is asked, and have extensions`()
        throws
    {
        var draft = try Self.draft()
        draft.flags = 0x81
        draft.extensions = Item.map([(.text("uvm"), .array([.integer(1)]))]).encoded
        #expect(try !Site.use(draft, requiresUserVerification: false).userVerified)
    }

    @Test(
        arguments: [
            ("https://a.login.example.org", true), ("https://a-1.b.login.example.org", true),
            ("https://login.example.org", true), ("http://a.login.example.org", false),
            ("https://a.login.example.org:443", false), ("https://.login.example.org", false),
            ("https://a..login.example.org", false), ("https://-a.login.example.org", false),
            ("https://a-.login.example.org", false), ("https://A.login.example.org", false),
            ("https://a_b.login.example.org", false), ("https://a/.login.example.org", false),
            ("https://alogin.example.org", false), ("https://a.login.example.org.", false),
            ("https://a.login.example.org/", false), ("https://", false), ("", false),
            ("http://localhost", false), ("https://ä.login.example.org", false),
        ])
    func `an assertion from a page below the domain is accepted where that is allowed`(
        _ origin: String, _ isFine: Bool
    ) throws {
        let party = RelyingParty(
            id: "login.example.org", origins: ["https://login.example.org"],
            allowsSubdomains: true, allowsLocalPorts: true)
        var draft = try Self.draft()
        draft.setClientData("origin", "\"\(origin)\"")
        let sent = draft
        if isFine {
            _ = try Site.use(sent, party: party)
        } else {
            #expect(throws: WebAuthnFailure.self) { try Site.use(sent, party: party) }
        }
        // Without leave it is the id's own page alone.
        if origin != "https://login.example.org" {
            #expect(throws: WebAuthnFailure.self) { try Site.use(sent) }
        }
    }

    @Test func `an assertion under a damaged stored key is refused`() throws {
        let draft = try Self.draft()
        let key = draft.key.cose.encoded
        for broken: [UInt8] in [[], [0xA0], key + [0], Array(key.dropLast())] {
            #expect(throws: WebAuthnFailure.storedKeyMalformed) {
                try Site.use(draft, publicKey: broken)
            }
        }
    }

    @Test func `an assertion's client data may have unknown members`() throws {
        var draft = try Self.draft()
        let unknown = #"{"a":[1.5e-7,-0,"\ud800",{}],"\u0061":null,"a":true}"#
        draft.clientData.insert(("new \\\" member", unknown), at: 0)
        draft.clientData.append(("other_keys_can_be_added_here", "\"do not compare\""))
        _ = try Site.use(draft)
        draft.clientDataText = [0xEF, 0xBB, 0xBF] + Array("  ".utf8) + draft.clientDataJSON
        _ = try Site.use(draft)
        draft.clientDataText = nil
        draft.setClientData("tokenBinding", #"{"status":"present","id":"x"}"#)
        _ = try Site.use(draft)
        draft.setClientData("crossOrigin", nil)
        _ = try Site.use(draft)
    }
}
