internal import Cryptography

/// How the text of a message is encrypted under the message's own key (RFC 7518 section 5): the value of `enc`.
enum ContentEncryption: String, CaseIterable {
    case a256GCM = "A256GCM"
    /// Read alone: apps have it whose system offers no newer one.
    case a128CBCHS256 = "A128CBC-HS256"

    /// In bytes, and the same for both.
    static let keyLength = AESGCM.keyLength

    var nonceLength: Int {
        switch self {
        case .a256GCM: AESGCM.nonceLength
        case .a128CBCHS256: AESCBCHMAC.nonceLength
        }
    }

    var tagLength: Int {
        switch self {
        case .a256GCM: AESGCM.tagLength
        case .a128CBCHS256: AESCBCHMAC.tagLength
        }
    }

    /// - Parameter sealed: Nonce, ciphertext and tag.
    func open(
        _ sealed: [UInt8], key: SecretBytes, authenticating: [UInt8]
    ) throws(Failure) -> [UInt8] {
        switch self {
        case .a256GCM: try AESGCM.open(sealed, key: key, authenticating: authenticating)
        case .a128CBCHS256:
            try AESCBCHMAC.open(sealed, key: key, authenticating: authenticating)
        }
    }
}
