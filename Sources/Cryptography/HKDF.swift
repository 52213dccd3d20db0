/// HKDF-SHA-256 (RFC 5869): from one secret, as many independent keys as there are purposes.
///
/// Extract and expand over our `HMACKey` rather than OpenSSL's `EVP_KDF`, because this cannot fail,
/// and a derivation that cannot fail needs no answer to a failure. What comes out is a secret again.
public enum HKDF {
    /// The most that RFC 5869 allows: 255 blocks.
    public static let maximumLength = 255 * SHA256.digestLength

    /// `info` names the purpose: two purposes never share a key. `salt` may be empty.
    public static func derive(
        from secret: SecretBytes, salt: [UInt8] = [], info: [UInt8], length: Int = 32
    ) -> SecretBytes {
        precondition((1...maximumLength).contains(length), "HKDF gives 1 to 8160 bytes")
        return expand(extract(from: secret, salt: salt), info: info, length: length)
    }

    static func extract(from secret: SecretBytes, salt: [UInt8]) -> SecretBytes {
        let key = HMACKey(salt)
        return unsafe SecretBytes(count: HMACKey.tagLength) { room in
            unsafe secret.withUnsafeBytes { unsafe key.authenticate($0, into: room) }
        }
    }

    static func expand(_ pseudorandomKey: SecretBytes, info: [UInt8], length: Int) -> SecretBytes {
        let key = HMACKey(pseudorandomKey)
        return unsafe SecretBytes(count: length) { room in
            var block: [UInt8] = []
            defer { unsafe block.withUnsafeMutableBytes { unsafe wipe($0) } }
            var written = 0
            var number: UInt8 = 0
            while written < length {
                number += 1
                block = key.authenticate([block, info, [number]])
                let taken = min(block.count, length - written)
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[written..<written + taken])
                    .copyBytes(from: block.prefix(taken))
                written += taken
            }
        }
    }
}
