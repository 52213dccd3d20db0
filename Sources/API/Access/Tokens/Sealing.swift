internal import Cryptography
internal import JSON
internal import Values

/// Sealed state that a client or browser carries for us, so that nothing is stored meanwhile: the
/// bearer cannot read it, change it, or use it for another purpose.
extension TokenMint {
    /// Maximum length of a sealed text that is opened.
    static let longestSealed = 16 << 10

    /// Of characters that need no escape in a URL.
    func seal(_ value: JSON, for purpose: SealedPurpose) -> String? {
        let sealed = try? AESGCM.seal(
            value.canonical(), key: key(purpose), authenticating: Array(purpose.rawValue.utf8))
        return sealed.map { Base64URL.encode($0) }
    }

    /// Nil for text that was not sealed here for this purpose.
    func unseal(_ text: String, for purpose: SealedPurpose) -> JSON? {
        guard text.utf8.count <= Self.longestSealed, let bytes = Base64URL.decode(text),
            let plain = open(bytes, for: purpose)
        else { return nil }
        return try? JSON.parse(plain)
    }

    private func open(_ sealed: [UInt8], for purpose: SealedPurpose) -> [UInt8]? {
        var plain: [UInt8]?
        _ = version { mint in
            plain = try? AESGCM.open(
                sealed, key: mint.key(purpose), authenticating: Array(purpose.rawValue.utf8))
            return plain != nil
        }
        return plain
    }

    private func key(_ purpose: SealedPurpose) -> SecretBytes {
        SecretBytes(derive(.seal, Array(purpose.rawValue.utf8)))
    }
}

enum SealedPurpose: String {
    case authorizationCode = "authorization code"
    case authorizationRequest = "authorization request"
    case pushedRequest = "pushed authorization request"
    case logout
    case challenge = "authorization challenge"
    case upstream = "provider request"
    case upstreamStep = "provider second step"
    case codeAddress = "address of a code"
    case recoveryCodes = "recovery codes"
    case ownerStep = "owner second step"
    case verification = "address of a tenant's page"
}
