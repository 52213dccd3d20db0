internal import Cryptography
internal import JSON
internal import Values

/// An encrypted message in its compact form (RFC 7516 section 3.1), taken apart and not yet opened.
struct EncryptedMessage {
    let header: JSONObject
    let encryption: ContentEncryption
    let encryptedKey: [UInt8]
    /// Nonce, ciphertext and tag, as `ContentEncryption` takes them.
    let sealed: [UInt8]
    /// What the seal is bound to: the header as it was sent.
    let authenticated: [UInt8]

    init(
        _ text: String, encryptions: [ContentEncryption]
    ) throws(TokenRejection) {
        guard text.utf8.count <= CompactJWE.longestText else { throw .tooLarge }
        let bytes = Array(text.utf8)
        let parts = bytes.split(
            separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 5 else { throw .malformed }
        guard parts[0].count <= CompactJWS.longestHeader else { throw .tooLarge }
        let limits = JSON.Limits(depth: CompactJWS.deepestHeader, size: CompactJWS.longestHeader)
        guard let text = Self.decode(parts[0]),
            case .object(let header)? = try? JSON.parse(text, limits: limits)
        else { throw .malformed }
        // Nothing that changes the meaning of the message, and above all no compression.
        for name in ["crit", "zip", "b64"] where header[name] != nil { throw .unsupportedHeader }
        guard let encryption = encryptions.first(where: { header["enc"]?.string == $0.rawValue })
        else { throw .algorithmNotAllowed }
        guard let key = Self.decode(parts[1]), let nonce = Self.decode(parts[2]),
            let sealed = Self.decode(parts[3]), let tag = Self.decode(parts[4]),
            nonce.count == encryption.nonceLength, tag.count == encryption.tagLength
        else { throw .malformed }
        self.header = header
        self.encryption = encryption
        encryptedKey = key
        self.sealed = nonce + sealed + tag
        authenticated = Array(parts[0])
    }

    /// What is inside, where it was sealed under this key with this header.
    func open(_ key: SecretBytes) throws(TokenRejection) -> [UInt8] {
        guard
            let plain = try? encryption.open(sealed, key: key, authenticating: authenticated)
        else { throw .badSignature }
        return plain
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        Base64URL.decode(String(decoding: part, as: UTF8.self))
    }
}
