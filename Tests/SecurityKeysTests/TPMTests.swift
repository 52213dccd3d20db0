import SecurityKeys
import Testing
import Values

@testable import Cryptography
@testable import SecurityKeysTesting

/// SECURITY.md 2.8, Resp-9, and section 8.3.
@Suite struct `An attestation of a security chip` {
    /// What the chip says, before it is written.
    struct Chip: Sendable {
        var version: Item = .text("2.0")
        var algorithm: Int64 = -7
        var magic: [UInt8] = [0xFF, 0x54, 0x43, 0x47]
        var type: [UInt8] = [0x80, 0x17]
        var extraData: [UInt8]?
        var name: [UInt8]?
        var publicArea: [UInt8]?
        var trailing: [UInt8] = []
        var isSignedByCredential = false
        var sign: (@Sendable ([UInt8]) throws -> [UInt8])?
        var hash: @Sendable ([UInt8]) throws -> [UInt8] = { SHA256.hash($0) }
        var change: @Sendable (inout CertificateDraft) -> Void = { _ in }
    }

    static func string(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)] + bytes
    }

    static func publicArea(_ key: TestKey) -> [UInt8] {
        let head: [UInt8] = [0x00, 0x0B, 0, 4, 0, 0, 0, 0, 0x00, 0x10, 0x00, 0x10]
        switch key {
        case .es256(let key):
            return [0x00, 0x23] + head + [0x00, 0x03, 0x00, 0x10] + string(key.publicKey.x)
                + string(key.publicKey.y)
        case .rs256(let key):
            let bits = key.publicKey.modulus.count * 8
            return [0x00, 0x01] + head + [UInt8(bits >> 8), UInt8(bits & 0xFF), 0, 0, 0, 0]
                + string(key.publicKey.modulus)
        case .ed25519: return []
        }
    }

    static let alternativeName = CertificateDraft.Extension(
        identifier: "2.5.29.17", isCritical: true,
        value: ASN1.sequence(
            ASN1.context(
                4,
                CertificateDraft.name([
                    ("2.23.133.2.1", "id:FFFFF1D0"), ("2.23.133.2.2", "chip"),
                    ("2.23.133.2.3", "id:13"),
                ]))))
    static let usage = CertificateDraft.Extension(
        identifier: "2.5.29.37", value: ASN1.sequence(ASN1.identifier("2.23.133.8.3")))

    static func draft(_ maker: Maker, _ key: TestKey, _ chip: Chip) -> Draft {
        var draft = Draft(.create, key: key)
        draft.format = .text("tpm")
        draft.statement = { draft in
            let chain = try maker.chain { certificate in
                certificate.subject = []
                certificate.extensions = [alternativeName, usage]
                chip.change(&certificate)
            }
            let area = chip.publicArea ?? publicArea(draft.key)
            let hash = try chip.extraData ?? chip.hash(draft.signed)
            let name = chip.name ?? [0x00, 0x0B] + SHA256.hash(area)
            let clock = [UInt8](repeating: 1, count: 25)
            let information =
                chip.magic + chip.type + string([1, 2]) + string(hash) + clock + string(name)
                + string([]) + chip.trailing
            let sign = chip.sign ?? { try maker.key.signDER($0) }
            let signature =
                try chip.isSignedByCredential ? draft.key.sign(information) : sign(information)
            return .map([
                (.text("ver"), chip.version), (.text("alg"), .integer(chip.algorithm)),
                (.text("x5c"), .array(chain.map(Item.bytes))), (.text("sig"), .bytes(signature)),
                (.text("certInfo"), .bytes(information)), (.text("pubArea"), .bytes(area)),
            ])
        }
        return draft
    }

    @Test func `a TPM attestation is accepted for keys of both kinds`() throws {
        let maker = try Maker()
        for key in [TestKey.es256(try .generate()), .rs256(try .generate())] {
            let draft = Self.draft(maker, key, Chip())
            let kept = try Site.register(draft, policy: maker.policy(.tpm))
            #expect(
                kept.attestation
                    == .init(format: .tpm, kind: .attestationAuthority, isTrusted: true))
        }
    }

    /// Chips of the first years know nothing newer.
    @Test(arguments: [(COSEAlgorithm.rs1, HashFunction.sha1), (.rs256, .sha256), (.rs512, .sha512)])
    func `a TPM attestation may be signed with RSA and with SHA-1`(
        _ algorithm: COSEAlgorithm, _ function: HashFunction
    ) throws {
        let maker = try Maker()
        let key = try RS256.PrivateKey.generate()
        let spki = try key.publicKey.spki()
        var chip = Chip()
        chip.algorithm = Int64(algorithm.rawValue)
        chip.change = { $0.key = spki }
        chip.sign = { try key.key.sign($0, digest: function.rawValue) }
        chip.hash = { try function.hash($0) }
        let draft = Self.draft(maker, .es256(try .generate()), chip)
        #expect(try Site.register(draft, policy: maker.policy(.tpm)).attestation.isTrusted)
        chip.hash = { try HashFunction.sha384.hash($0) }
        let other = Self.draft(maker, .es256(try .generate()), chip)
        #expect(throws: WebAuthnFailure.statement(.chip(.extraData))) { try Site.register(other) }
    }

    struct Broken: Sendable, CustomStringConvertible {
        let description: String
        let flaw: WebAuthnFailure.StatementFlaw
        let change: @Sendable (inout Chip) throws -> Void
    }

    @Test(arguments: broken) func `a TPM attestation with any fault is refused`(
        _ broken: Broken
    ) throws {
        let maker = try Maker()
        var chip = Chip()
        try broken.change(&chip)
        let draft = Self.draft(maker, .es256(try .generate()), chip)
        #expect(throws: WebAuthnFailure.statement(broken.flaw)) { try Site.register(draft) }
    }

    static let broken: [Broken] = [
        Broken(description: "version", flaw: .chip(.version)) { $0.version = .text("1.2") },
        Broken(description: "version a number", flaw: .member(.ver, .wrongType)) {
            $0.version = .integer(2)
        },
        Broken(description: "magic", flaw: .chip(.magic)) { $0.magic[3] = 0 },
        Broken(description: "type", flaw: .chip(.type)) { $0.type = [0x80, 0x18] },
        Broken(description: "extra data", flaw: .chip(.extraData)) { $0.extraData = [1, 2] },
        Broken(description: "name", flaw: .chip(.name)) {
            $0.name = [0, 0x0B] + SHA256.hash([1])
        },
        Broken(description: "name with another hash", flaw: .chip(.name)) {
            $0.name = [0, 0x0C] + SHA256.hash([1])
        },
        Broken(description: "bytes behind", flaw: .chip(.attestation)) { $0.trailing = [0] },
        Broken(description: "another key", flaw: .otherKey) {
            $0.publicArea = publicArea(.es256(try .generate()))
        },
        Broken(description: "a key of another kind", flaw: .otherKey) {
            $0.publicArea = publicArea(.rs256(try .generate()))
        },
        Broken(description: "no public area", flaw: .member(.pubArea, .empty)) {
            $0.publicArea = []
        },
        Broken(description: "a cut public area", flaw: .chip(.publicArea)) {
            $0.publicArea = publicArea(.es256(try .generate())).dropLast()
        },
        Broken(description: "bytes behind the public area", flaw: .chip(.publicArea)) {
            $0.publicArea = publicArea(.es256(try .generate())) + [0]
        },
        Broken(description: "a length beyond the end", flaw: .chip(.publicArea)) {
            $0.publicArea = [0, 0x23, 0, 0x0B, 0, 0, 0, 0, 0xFF, 0xFF]
        },
        Broken(description: "signed by the credential", flaw: .signature) {
            $0.isSignedByCredential = true
        },
        Broken(description: "an algorithm without a hash", flaw: .chip(.extraData)) {
            $0.algorithm = -8
        },
        Broken(description: "an algorithm of another kind", flaw: .otherAlgorithm) {
            $0.algorithm = -257
        },
        certificate("a subject", .subject) { $0.subject = [("2.5.4.3", "x")] },
        certificate("no alternative name", .alternativeName) { $0.extensions.remove(at: 0) },
        certificate("an alternative name without model", .alternativeName) {
            $0.extensions[0].value = ASN1.sequence(
                ASN1.context(4, CertificateDraft.name([("2.23.133.2.1", "id:FFFFF1D0")])))
        },
        certificate("an alternative name that is broken", .alternativeName) {
            $0.extensions[0].value = [0x30, 0x05, 0xA4]
        },
        certificate("no usage", .usage) { $0.extensions.remove(at: 1) },
        certificate("another usage", .usage) {
            $0.extensions[1].value = ASN1.sequence(ASN1.identifier("2.23.133.8.1"))
        },
        certificate("an authority", .authority) { $0.isAuthority = true },
        certificate("version 1", .version) { $0.version = 1 },
    ]

    static func certificate(
        _ description: String, _ flaw: WebAuthnFailure.CertificateFlaw,
        _ change: @escaping @Sendable (inout CertificateDraft) -> Void
    ) -> Broken {
        Broken(description: description, flaw: .certificate(flaw)) { $0.change = change }
    }

    @Test func `a TPM attestation with its certificates in another order is refused`() throws {
        let maker = try Maker()
        let right = Self.draft(maker, .es256(try .generate()), Chip())
        var draft = right
        draft.statement = { draft in
            guard case .map(let members) = try right.statement(draft),
                case .array(let chain) = members[2].1
            else { return .map([]) }
            return Statement.setting(.map(members), "x5c", .array(chain.reversed()))
        }
        let turned = draft
        #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(turned) }
    }
}
