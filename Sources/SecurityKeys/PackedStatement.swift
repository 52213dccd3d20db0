internal import Cryptography

/// Section 8.2.
extension AttestationStatement {
    func verifyPacked() throws(Flaw) -> Verified {
        let algorithm = try algorithm()
        let signature = try bytes(.sig)
        guard has(.x5c) else { return try verifySelf(algorithm, signature) }
        let (leaf, chain) = try certificates()
        let attesting = try publicKey(of: leaf)
        guard algorithm.scheme.fits(attesting.kind) else { throw .otherAlgorithm }
        guard attesting.isValid(signature, for: signed, scheme: algorithm.scheme) else {
            throw .signature
        }
        try checkPackedRequirements(leaf)
        try checkModel(in: leaf)
        return Verified(kind: .basic, chain: chain)
    }

    private func verifySelf(
        _ algorithm: COSEAlgorithm, _ signature: [UInt8]
    ) throws(Flaw) -> Verified {
        guard algorithm == key.algorithm else { throw .otherAlgorithm }
        guard key.isValid(signature, for: signed) else { throw .signature }
        return Verified(kind: .selfSigned, chain: nil)
    }

    /// Section 8.2.1.
    private func checkPackedRequirements(_ leaf: Certificate) throws(Flaw) {
        guard leaf.version == 3 else { throw .certificate(.version) }
        let country = leaf.subject("2.5.4.6")
        guard country.count == 1, country[0].utf8.count == 2,
            leaf.subject("2.5.4.10").contains(where: { !$0.isEmpty }),
            leaf.subject("2.5.4.11") == ["Authenticator Attestation"],
            leaf.subject("2.5.4.3").contains(where: { !$0.isEmpty })
        else { throw .certificate(.subject) }
        guard leaf.isAuthority == false else { throw .certificate(.authority) }
    }
}
