import Cryptography
import JSON
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.8, Resp-3 F1 to F19, and what else can be wrong with the outer bytes.
@Suite struct `An attestation object` {
    static func member(_ name: String, _ value: Item?) -> @Sendable ([(Item, Item)]) -> Item {
        { members in
            let others = members.filter { member in
                guard case .text(name) = member.0 else { return true }
                return false
            }
            return .map(others + (value.map { [(.text(name), $0)] } ?? []))
        }
    }

    @Test(arguments: cases) func `an attestation object with any fault is refused`(_ wrong: Wrong)
        throws
    {
        var draft = Draft(.create, key: .es256(try .generate()))
        _ = try Site.register(draft)
        try wrong.change(&draft)
        let changed = draft
        #expect(throws: wrong.failure) { try Site.register(changed) }
    }

    static let cases: [Wrong] = objects + data

    static let objects: [Wrong] = [
        Wrong("not a map", .attestationObjectMalformed) { $0.object = { _ in .array([]) } },
        Wrong("not CBOR", .attestationObjectMalformed) { $0.object = { _ in .raw([0xFF]) } },
        Wrong("JSON", .attestationObjectMalformed) { $0.object = { _ in .raw([0x7B, 0x7D]) } },
        Wrong("bytes behind", .attestationObjectMalformed) {
            $0.object = { .raw(Item.map($0).encoded + [0]) }
        },
        Wrong("cut", .attestationObjectMalformed) {
            $0.object = { .raw(Item.map($0).encoded.dropLast()) }
        },
        Wrong("a member twice", .attestationObjectMalformed) { $0.object = { .map($0 + $0) } },
        Wrong("an indefinite map", .attestationObjectMalformed) {
            $0.object = { .raw([0xBF] + Item.map($0).encoded.dropFirst() + [0xFF]) }
        },
        Wrong("a tagged map", .attestationObjectMalformed) {
            $0.object = { .raw([0xC0] + Item.map($0).encoded) }
        },
        Wrong("a long head", .attestationObjectMalformed) {
            $0.object = { .raw([0xB8, 0x03] + Item.map($0).encoded.dropFirst()) }
        },
        Wrong("fmt missing", .attestationObjectMember(.fmt, .missing)) {
            $0.object = member("fmt", nil)
        },
        Wrong("fmt not a string", .attestationObjectMember(.fmt, .wrongType)) {
            $0.object = member("fmt", .bytes([1]))
        },
        Wrong("fmt unknown", .formatUnknown) { $0.object = member("fmt", .text("pack")) },
        Wrong("fmt in other letters", .formatUnknown) { $0.object = member("fmt", .text("None")) },
        Wrong("SafetyNet", .formatUnknown) {
            $0.object = member("fmt", .text("android-safetynet"))
        },
        Wrong("attStmt missing", .attestationObjectMember(.attStmt, .missing)) {
            $0.object = member("attStmt", nil)
        },
        Wrong("attStmt not a map", .attestationObjectMember(.attStmt, .wrongType)) {
            $0.object = member("attStmt", .bytes([]))
        },
        Wrong("none with a statement", .statement(.notEmpty)) {
            $0.statement = { _ in .map([(.text("alg"), .integer(-7))]) }
        },
        Wrong("authData missing", .attestationObjectMember(.authData, .missing)) {
            $0.object = member("authData", nil)
        },
        Wrong("authData not bytes", .attestationObjectMember(.authData, .wrongType)) {
            $0.object = member("authData", .text("x"))
        },
        Wrong("authData empty", .attestationObjectMember(.authData, .empty)) {
            $0.object = member("authData", .bytes([]))
        },
    ]

    static let data: [Wrong] = [
        Wrong("authData short", .authenticatorDataMalformed) {
            $0.object = member("authData", .bytes([UInt8](repeating: 0, count: 36)))
        },
        Wrong("credential without its flag", .authenticatorDataTrailing) { $0.flags = 0x05 },
        Wrong("neither flag nor credential", .attestedCredentialMissing) {
            $0.flags = 0x05
            $0.attested = false
        },
        Wrong("a flag without credential", .authenticatorDataMalformed) { $0.attested = false },
        Wrong("bytes left over", .authenticatorDataTrailing) { $0.trailing = [1, 2, 3] },
        Wrong("extensions without their flag", .authenticatorDataTrailing) {
            $0.extensions = Item.map([]).encoded
        },
        Wrong("a flag without extensions", .authenticatorDataMalformed) { $0.flags = 0xC5 },
        Wrong("extensions that are no map", .authenticatorDataMalformed) {
            $0.flags = 0xC5
            $0.extensions = Item.array([]).encoded
        },
        Wrong("another relying party", .otherRelyingParty) {
            $0.relyingPartyID = "example.org"
        },
        Wrong("user not present", .userNotPresent) { $0.flags = 0x44 },
        Wrong("user not verified", .userNotVerified) { $0.flags = 0x41 },
        Wrong("backed up but not eligible", .backedUpWithoutEligibility) { $0.flags = 0x55 },
        Wrong("an empty credential id", .credentialIDMalformed) { draft in
            let others = draft.credentialID
            draft.credentialID = []
            draft.envelope = {
                $0["id"] = .string(Base64URL.encode(others))
                $0["rawId"] = $0["id"]
            }
        },
        Wrong("a credential id of 1,024 bytes", .credentialIDMalformed) {
            $0.credentialID = [UInt8](repeating: 9, count: 1024)
        },
        Wrong("a credential id longer than all", .credentialIDMalformed) { draft in
            let hash = draft.relyingPartyHash
            let data = hash + [0x45, 0, 0, 0, 0] + draft.model + [0xFF, 0xFF, 1, 2, 3]
            draft.object = member("authData", .bytes(data))
        },
    ]

    @Test func `an attestation object may have unsolicited extensions`() throws {
        var draft = Draft(.create, key: .es256(try .generate()))
        draft.flags = 0xC5
        draft.extensions =
            Item.map([
                (.text("credProtect"), .integer(2)), (.text("hmac-secret"), .raw([0xF5])),
                (.text("half"), .raw([0xF9, 0x3C, 0x00])),
            ]).encoded
        _ = try Site.register(draft)
    }

    @Test func `an attestation object may have the longest credential id`() throws {
        var draft = Draft(.create, key: .es256(try .generate()))
        draft.credentialID = [UInt8](repeating: 9, count: 1023)
        #expect(try Site.register(draft).id.count == 1023)
    }

    @Test func `an attestation object may have its members in any order`() throws {
        var draft = Draft(.create, key: .es256(try .generate()))
        draft.object = { .map($0.reversed()) }
        _ = try Site.register(draft)
    }

    @Test
    func `an attestation object may lack user presence where the browser creates the key itself`()
        throws
    {
        var draft = Draft(.create, key: .es256(try .generate()))
        draft.flags = 0x40
        let unattended = draft
        func register(requiresUserPresence: Bool) throws {
            _ = try Registration.verify(
                PublicKeyCredential.Attestation(unattended.json()),
                challenge: unattended.challenge, relyingParty: Site.party,
                requiresUserVerification: false, requiresUserPresence: requiresUserPresence,
                offeredAlgorithms: COSEAlgorithm.usual, at: Site.time)
        }
        try register(requiresUserPresence: false)
        #expect(throws: WebAuthnFailure.userNotPresent) { try register(requiresUserPresence: true) }
    }

    @Test func `an attestation object cut at any byte is refused`() throws {
        let draft = Draft(.create, key: .es256(try .generate()))
        let members = try draft.json()
        let text = members["response"]?["attestationObject"]?.string ?? ""
        let bytes = try #require(Base64URL.decode(text))
        for count in 1..<bytes.count {
            var cut = draft
            cut.object = { _ in .raw(Array(bytes.prefix(count))) }
            let changed = cut
            #expect(throws: WebAuthnFailure.self, "\(count)") { try Site.register(changed) }
        }
    }
}
