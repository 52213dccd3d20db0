import Cryptography
import JSON
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

@Suite struct `The test vectors of Web Authentication Level 3` {
    static let party = RelyingParty(
        id: "example.org", origins: ["https://example.org"], allowsCrossOrigin: true,
        topOrigins: ["https://example.com"])
    static let algorithms = COSEAlgorithm.allCases.map(\.rawValue)
    static let time = Timestamp(seconds: 1_750_000_000)

    static func policy() throws -> AttestationPolicy {
        let root = try Certificate(der: Vector.root)
        return AttestationPolicy(
            acceptsUntrusted: false,
            roots: Dictionary(
                AttestationFormat.allCases.map { ($0, [root]) }, uniquingKeysWith: { $1 }),
            acceptsModelInU2F: true)
    }

    /// The id is in the authenticator data alone, at a fixed place.
    static func credentialID(_ vector: Vector) -> [UInt8] {
        let object = vector.value("create.attestationObject")
        let hash = SHA256.hash(Array(party.id.utf8))
        for start in object.indices where object[start...].starts(with: hash) {
            let length = Int(object[start + 53]) << 8 | Int(object[start + 54])
            return Array(object[(start + 55)..<(start + 55 + length)])
        }
        return []
    }

    static func attestation(_ vector: Vector) throws -> PublicKeyCredential.Attestation {
        let id = JSON.string(Base64URL.encode(credentialID(vector)))
        return try PublicKeyCredential.Attestation([
            "id": id, "rawId": id, "type": "public-key",
            "response": [
                "clientDataJSON": .string(Base64URL.encode(vector.value("create.clientDataJSON"))),
                "attestationObject": .string(
                    Base64URL.encode(vector.value("create.attestationObject"))),
            ],
        ])
    }

    static func register(
        _ vector: Vector, _ policy: AttestationPolicy
    ) throws -> RegisteredCredential {
        try Registration.verify(
            attestation(vector), challenge: vector.value("create.challenge"), relyingParty: party,
            requiresUserVerification: false, offeredAlgorithms: algorithms, attestation: policy,
            at: time)
    }

    static func use(
        _ vector: Vector, publicKey: [UInt8], backupEligible: Bool
    ) throws -> AssertionOutcome {
        let id = JSON.string(Base64URL.encode(credentialID(vector)))
        let assertion = try PublicKeyCredential.Assertion([
            "id": id, "rawId": id, "type": "public-key",
            "response": [
                "clientDataJSON": .string(Base64URL.encode(vector.value("get.clientDataJSON"))),
                "authenticatorData": .string(
                    Base64URL.encode(vector.value("get.authenticatorData"))),
                "signature": .string(Base64URL.encode(vector.value("get.signature"))),
            ],
        ])
        return try Assertion.verify(
            assertion,
            stored: StoredCredential(
                id: credentialID(vector), publicKey: publicKey, signCount: 0,
                backupEligible: backupEligible, userHandle: [1]),
            challenge: vector.value("get.challenge"), relyingParty: party,
            requiresUserVerification: false, identifiesUser: false)
    }

    @Test func `the WebAuthn test vectors are fifteen and a root`() {
        #expect(Vector.all.count == 15)
        #expect(!Vector.root.isEmpty)
        #expect(Vector.all.allSatisfy { $0.values.count == 7 })
    }

    @Test(arguments: Vector.all.filter { $0.name != "android-key.ES256" })
    func `each WebAuthn test vector is registered and used`(_ vector: Vector) throws {
        let credential = try Self.register(vector, Self.policy())
        let expected: (AttestationFormat, AttestationKind) =
            switch vector.name.prefix(while: { $0 != "." }) {
            case "none": (.none, .none)
            case "packed-self": (.packed, .selfSigned)
            case "tpm": (.tpm, .attestationAuthority)
            case "apple": (.apple, .anonymizationAuthority)
            case "fido-u2f": (.fidoU2F, .basic)
            default: (.packed, .basic)
            }
        #expect(credential.attestation.format == expected.0)
        #expect(credential.attestation.kind == expected.1)
        let certified: [AttestationKind] = [.basic, .attestationAuthority, .anonymizationAuthority]
        #expect(credential.attestation.isTrusted == certified.contains(expected.1))
        #expect(credential.id.count == (vector.name.hasSuffix("long-credential-id") ? 1023 : 32))
        #expect(credential.model.contains { $0 != 0 })
        #expect(credential.signCount == 0)
        let outcome = try Self.use(
            vector, publicKey: credential.publicKey, backupEligible: credential.backupEligible)
        #expect(!outcome.counterWentBack)
    }

    @Test func `the Android test vector lacks purpose and origin and is refused`() throws {
        let vector = try Vector.named("android-key.ES256")
        #expect(throws: WebAuthnFailure.statement(.android(.origin))) {
            try Self.register(vector, Self.policy())
        }
    }

    @Test func `the U2F test vector names a model, which FIDO's rules refuse`() throws {
        let vector = try Vector.named("fido-u2f.ES256")
        var policy = try Self.policy()
        policy.acceptsModelInU2F = false
        #expect(throws: WebAuthnFailure.statement(.otherModel)) {
            try Self.register(vector, policy)
        }
    }

    @Test(arguments: Vector.all) func `a WebAuthn test vector is refused under another root`(
        _ vector: Vector
    ) throws {
        var policy = try Self.policy()
        policy.roots = [:]
        policy.acceptsSelf = false
        policy.formats.remove(.none)
        #expect(throws: WebAuthnFailure.self) { try Self.register(vector, policy) }
    }

    @Test(arguments: Vector.all) func `a WebAuthn test vector is refused under another algorithm`(
        _ vector: Vector
    ) throws {
        let words: [String: COSEAlgorithm] = [
            "ES256": .es256, "ES384": .es384, "ES512": .es512, "RS256": .rs256, "EdDSA": .eddsa,
            "Ed448": .ed448,
        ]
        let wanted = words.first { vector.name.contains(".\($0.key)") }?.value
        let algorithm = try #require(wanted).rawValue
        #expect(throws: WebAuthnFailure.algorithmNotOffered) {
            try Registration.verify(
                Self.attestation(vector), challenge: vector.value("create.challenge"),
                relyingParty: Self.party, requiresUserVerification: false,
                offeredAlgorithms: Self.algorithms.filter { $0 != algorithm },
                attestation: Self.policy(), at: Self.time)
        }
    }

    @Test(arguments: Vector.all)
    func `a WebAuthn test vector with any signed bit changed is refused`(
        _ vector: Vector
    ) throws {
        let key = try Self.publicKey(vector)
        let isEligible = Self.isBackupEligible(vector)
        _ = try Self.use(vector, publicKey: key, backupEligible: isEligible)
        for name in ["get.authenticatorData", "get.clientDataJSON", "get.signature"] {
            let bytes = vector.value(name)
            for index in stride(from: 0, to: bytes.count, by: 5) {
                var changed = bytes
                changed[index] ^= 1 << UInt8(index % 8)
                var values = vector.values
                values[name] = changed
                let other = Vector(name: vector.name, values: values)
                #expect(throws: WebAuthnFailure.self, "\(name) \(index)") {
                    try Self.use(other, publicKey: key, backupEligible: isEligible)
                }
            }
        }
    }

    /// Behind the id; the key of the one whose statement is refused has the 77 bytes of all on P-256.
    static func publicKey(_ vector: Vector) throws -> [UInt8] {
        guard vector.name == "android-key.ES256" else {
            return try register(vector, policy()).publicKey
        }
        let object = vector.value("create.attestationObject")
        let id = credentialID(vector)
        let start = try #require(object.indices.first { object[$0...].starts(with: id) })
        return Array(object[(start + id.count)..<(start + id.count + 77)])
    }

    static func isBackupEligible(_ vector: Vector) -> Bool {
        vector.value("get.authenticatorData")[32] & 0x08 != 0
    }
}
