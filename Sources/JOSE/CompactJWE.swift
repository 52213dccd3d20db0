public import Cryptography
internal import JSON
internal import Values

/// An encrypted message in its compact form (RFC 7516 section 3.1), of the one kind that is taken here:
/// a key wrapped by A256KW, and A256GCM.
public enum CompactJWE {
    public static let longestText = 64 << 10

    /// What is inside, where one of the keys opens it. Nothing is said of who wrote it.
    public static func open(_ text: String, keys: [SecretBytes]) throws(TokenRejection) -> [UInt8] {
        guard text.utf8.count <= longestText else { throw .tooLarge }
        let bytes = Array(text.utf8)
        let parts = bytes.split(
            separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 5 else { throw .malformed }
        guard parts[0].count <= CompactJWS.longestHeader else { throw .tooLarge }
        let limits = JSON.Limits(depth: CompactJWS.deepestHeader, size: CompactJWS.longestHeader)
        guard let header = decode(parts[0]),
            case .object(let members)? = try? JSON.parse(header, limits: limits)
        else { throw .malformed }
        // Nothing that changes the meaning of the message, and above all no compression.
        for name in ["crit", "zip", "b64"] where members[name] != nil { throw .unsupportedHeader }
        guard members["alg"] == "A256KW", members["enc"] == "A256GCM" else {
            throw .algorithmNotAllowed
        }
        guard let wrapped = decode(parts[1]), let nonce = decode(parts[2]),
            let sealed = decode(parts[3]), let tag = decode(parts[4]),
            nonce.count == AESGCM.nonceLength, tag.count == AESGCM.tagLength
        else { throw .malformed }
        for key in keys {
            guard let inner = try? AESKeyWrap.unwrap(wrapped, key: key),
                inner.count == AESGCM.keyLength
            else { continue }
            guard
                let plain = try? AESGCM.open(
                    nonce + sealed + tag, key: inner, authenticating: Array(parts[0]))
            else { throw .badSignature }
            return plain
        }
        throw .unknownKey
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        Base64URL.decode(String(decoding: part, as: UTF8.self))
    }
}
