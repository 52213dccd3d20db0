public import Cryptography
internal import JSON

/// An encrypted message in its compact form under a key that both sides have: wrapped by A256KW, and
/// A256GCM. `JWE` is for public keys.
public enum CompactJWE {
    public static let longestText = 64 << 10

    /// What is inside, where one of the keys opens it. Its author is not authenticated.
    public static func open(_ text: String, keys: [SecretBytes]) throws(TokenRejection) -> [UInt8] {
        let message = try EncryptedMessage(text, encryptions: [.a256GCM])
        guard message.header["alg"] == "A256KW" else { throw .algorithmNotAllowed }
        for key in keys {
            guard let inner = try? AESKeyWrap.unwrap(message.encryptedKey, key: key),
                inner.count == AESGCM.keyLength
            else { continue }
            return try message.open(inner)
        }
        throw .unknownKey
    }
}
