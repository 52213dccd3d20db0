import Cryptography

/// A certificate that a test is about to make, right or wrong.
struct CertificateDraft: Sendable {
    struct Extension: Sendable {
        var identifier: String
        var isCritical = false
        var value: [UInt8]
    }

    var version: UInt8 = 3
    var subject: [(String, String)] = [
        ("2.5.4.6", "AA"), ("2.5.4.10", "Maker of keys"),
        ("2.5.4.11", "Authenticator Attestation"), ("2.5.4.3", "Batch 1"),
    ]
    var issuer: [(String, String)] = CertificateAuthority.name
    var notBefore = "20240101000000Z"
    var notAfter = "20491231235959Z"
    var key: [UInt8]
    /// nil leaves basic constraints out.
    var isAuthority: Bool? = false
    var extensions: [Extension] = []

    init(key: [UInt8]) { self.key = key }

    func signed(by issuer: ES256.PrivateKey) throws -> [UInt8] {
        let algorithm = ASN1.sequence(ASN1.identifier("1.2.840.10045.4.3.2"))
        let body = ASN1.sequence(
            version == 1 ? [] : ASN1.context(0, ASN1.integer(version - 1)),
            ASN1.integer(7), algorithm, CertificateDraft.name(self.issuer),
            ASN1.sequence(
                ASN1.element(0x18, Array(notBefore.utf8)),
                ASN1.element(0x18, Array(notAfter.utf8))),
            CertificateDraft.name(subject), key,
            version == 3 ? ASN1.context(3, ASN1.sequence(encodedExtensions)) : [])
        return ASN1.sequence(
            body, algorithm, ASN1.element(0x03, [0], try issuer.signDER(body)))
    }

    private var encodedExtensions: [UInt8] {
        var all = extensions
        if let isAuthority {
            let value = ASN1.sequence(isAuthority ? ASN1.element(0x01, [0xFF]) : [])
            all.append(Extension(identifier: "2.5.29.19", isCritical: true, value: value))
        }
        return all.flatMap { item in
            ASN1.sequence(
                ASN1.identifier(item.identifier),
                item.isCritical ? ASN1.element(0x01, [0xFF]) : [], ASN1.octets(item.value))
        }
    }

    static func name(_ attributes: [(String, String)]) -> [UInt8] {
        ASN1.element(
            0x30,
            attributes.flatMap { attribute in
                ASN1.element(
                    0x31,
                    ASN1.sequence(
                        ASN1.identifier(attribute.0),
                        ASN1.element(
                            attribute.0 == "2.5.4.6" ? 0x13 : 0x0C, Array(attribute.1.utf8))))
            })
    }
}

/// Makers of authenticators, as tests need them: a root, and an intermediate authority below.
struct CertificateAuthority: Sendable {
    static let name = [("2.5.4.3", "Authority of tests")]
    static let intermediateName = [("2.5.4.3", "Intermediate authority of tests")]

    let key: ES256.PrivateKey
    let root: [UInt8]
    let intermediateKey: ES256.PrivateKey
    let intermediate: [UInt8]

    init() throws {
        key = try .generate()
        intermediateKey = try .generate()
        var draft = CertificateDraft(key: key.publicKey.spki)
        draft.subject = Self.name
        draft.isAuthority = true
        root = try draft.signed(by: key)
        intermediate = try Self.intermediate(of: intermediateKey, by: key)
    }

    static func intermediate(
        of intermediateKey: ES256.PrivateKey, by key: ES256.PrivateKey,
        _ change: (inout CertificateDraft) -> Void = { _ in }
    ) throws -> [UInt8] {
        var draft = CertificateDraft(key: intermediateKey.publicKey.spki)
        draft.subject = intermediateName
        draft.isAuthority = true
        change(&draft)
        return try draft.signed(by: key)
    }
}

extension ES256.PrivateKey {
    /// The ASN.1 form, which WebAuthn and X.509 use.
    func signDER(_ message: [UInt8]) throws -> [UInt8] {
        let joined = try sign(message)
        return ASN1.sequence(
            ASN1.number(Array(joined.prefix(32))), ASN1.number(Array(joined.suffix(32))))
    }
}
