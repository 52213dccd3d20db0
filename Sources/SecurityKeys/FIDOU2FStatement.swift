internal import Cryptography

/// Section 8.6: keys that were made before WebAuthn.
extension AttestationStatement {
    func verifyFIDOU2F(acceptsModel: Bool) throws(Flaw) -> Verified {
        let signature = try bytes(.sig)
        let (leaf, chain) = try certificates()
        guard chain.count == 1 else { throw .certificate(.count) }
        let attesting = try publicKey(of: leaf)
        guard attesting.kind == .p256 else { throw .certificate(.publicKey) }
        guard key.algorithm == .es256, let point = key.point else { throw .otherKey }
        let message =
            [0x00] + authenticatorData.relyingPartyHash + clientDataHash + credential.id + point
        guard attesting.isValid(signature, for: message, scheme: .es256) else { throw .signature }
        guard acceptsModel || credential.model.allSatisfy({ $0 == 0 }) else { throw .otherModel }
        return Verified(kind: .basic, chain: chain)
    }
}
