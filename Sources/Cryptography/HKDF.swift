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

    /// The first half alone, without a salt, for a secret that many keys are derived from: `expand`
    /// with it gives what `derive` gives.
    public static func prepare(_ secret: SecretBytes) -> HMACKey {
        HMACKey(extract(from: secret, salt: []))
    }

    private static let unsalted = HMACKey([])

    static func extract(from secret: SecretBytes, salt: [UInt8]) -> SecretBytes {
        let key = salt.isEmpty ? unsalted : HMACKey(salt)
        return unsafe SecretBytes(count: HMACKey.tagLength) { room in
            unsafe secret.withUnsafeBytes { unsafe key.authenticate($0, into: room) }
        }
    }

    /// The second half alone, for a secret that is uniformly random already (RFC 5869 section 3.3).
    ///
    /// T(n) = HMAC(T(n - 1) ‖ info ‖ n). Every T is key material, so they succeed one another in
    /// one piece of memory that is wiped, and no array ever holds one.
    public static func expand(
        _ pseudorandomKey: SecretBytes, info: [UInt8], length: Int
    ) -> SecretBytes {
        expand(HMACKey(pseudorandomKey), info: info, length: length)
    }

    /// The same under a prepared key.
    public static func expand(_ key: HMACKey, info: [UInt8], length: Int) -> SecretBytes {
        let size = HMACKey.tagLength
        return unsafe SecretBytes(count: length) { room in
            _ = unsafe SecretBytes(count: size + info.count + 1) { input in
                unsafe UnsafeMutableRawBufferPointer(rebasing: input[size...]).copyBytes(from: info)
                for start in stride(from: 0, to: length, by: size) {
                    unsafe input[size + info.count] += 1
                    // There is no T(0).
                    let used = unsafe UnsafeRawBufferPointer(
                        rebasing: input[(start == 0 ? size : 0)...])
                    let block = unsafe UnsafeMutableRawBufferPointer(rebasing: input[..<size])
                    unsafe key.authenticate(used, into: block)
                    let taken = min(size, length - start)
                    unsafe UnsafeMutableRawBufferPointer(rebasing: room[start..<start + taken])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<taken]))
                }
            }
        }
    }
}
