import Cryptography
import SecurityKeys
import Testing
import Values

/// What a maker of authenticators vouches with, in tests.
struct Maker: Sendable {
    let authority: CertificateAuthority
    let key: ES256.PrivateKey

    init() throws {
        authority = try CertificateAuthority()
        key = try .generate()
    }

    /// The maker's leaf, below the intermediate authority, as a test wants it.
    func leaf(_ change: (inout CertificateDraft) throws -> Void = { _ in }) throws -> [UInt8] {
        var draft = CertificateDraft(key: key.publicKey.spki)
        draft.issuer = CertificateAuthority.intermediateName
        try change(&draft)
        return try draft.signed(by: authority.intermediateKey)
    }

    func chain(
        _ change: (inout CertificateDraft) throws -> Void = { _ in }
    ) throws -> [[UInt8]] {
        [try leaf(change), authority.intermediate]
    }

    func policy(_ format: AttestationFormat) throws -> AttestationPolicy {
        .trusted([format: [try Certificate(der: authority.root)]])
    }
}

enum Statement {
    static func packed(
        _ sig: [UInt8], _ chain: [[UInt8]]?, algorithm: Int64 = -7
    ) -> Item {
        .map(
            [(.text("alg"), .integer(algorithm)), (.text("sig"), .bytes(sig))]
                + (chain.map { [(.text("x5c"), .array($0.map(Item.bytes)))] } ?? []))
    }

    static func setting(_ statement: Item, _ name: String, _ value: Item?) -> Item {
        guard case .map(let members) = statement else { return statement }
        let others = members.filter { member in
            guard case .text(name) = member.0 else { return true }
            return false
        }
        return .map(others + (value.map { [(.text(name), $0)] } ?? []))
    }
}

extension Draft {
    /// Takes the statement that is there, and changes one member of it.
    mutating func setStatement(_ name: String, _ value: Item?) {
        let original = statement
        statement = { Statement.setting(try original($0), name, value) }
    }
}

extension Draft {
    /// Has the statement signed before the last change: with a counter of zero.
    mutating func cutSignature() {
        let original = statement
        statement = { draft in
            var before = draft
            before.signCount = 0
            return try original(before)
        }
    }
}
