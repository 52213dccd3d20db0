internal import Cryptography

/// Section 8.8: the certificate itself is the statement, made for this one credential.
extension AttestationStatement {
    func verifyApple() throws(Flaw) -> Verified {
        let (leaf, chain) = try certificates()
        guard let nonce = AppleNonce.read(leaf) else { throw .certificate(.nonceExtension) }
        guard nonce == SHA256.hash(signed) else { throw .otherHash }
        guard try publicKey(of: leaf) == key.key else { throw .otherKey }
        return Verified(kind: .anonymizationAuthority, chain: chain)
    }
}

/// The hash that Apple puts into a certificate to bind it to what was asked for: here, and in App
/// Attest.
enum AppleNonce {
    /// Nil when the certificate has none, or one of another shape.
    static func read(_ certificate: Certificate) -> [UInt8]? {
        guard let found = try? certificate.extension("1.2.840.113635.100.8.2"),
            let outer = try? DER.decode(found.value), outer.tag == .sequence,
            let nonce = try? outer.child(.context(1)).child(.octetString)
        else { return nil }
        return Array(nonce.content)
    }
}
