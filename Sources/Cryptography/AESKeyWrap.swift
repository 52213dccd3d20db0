import COpenSSL

/// AES-256 Key Wrap (RFC 3394): a key under another key, as JWE's A256KW has it.
public enum AESKeyWrap {
    /// What wrapping adds to the length.
    public static let overhead = 8

    /// The key inside, or `.refused` if anything was changed or the outer key is another.
    public static func unwrap(
        _ wrapped: [UInt8], key: SecretBytes
    ) throws(Failure) -> SecretBytes {
        guard key.count == 32 else { throw Failure(.malformed, "a key for AES-256 has 32 bytes") }
        // Whole blocks of eight bytes; what is longer than any key is not looked at.
        guard wrapped.count >= 24, wrapped.count <= 128, wrapped.count % 8 == 0 else {
            throw Failure(.malformed, "not a wrapped key")
        }
        return try unsafe SecretBytes(count: wrapped.count - overhead) { (room) throws(Failure) in
            let done = unsafe key.withUnsafeBytes { key -> Int32 in
                unsafe shim_aes_unwrap(
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self), wrapped,
                    Int32(wrapped.count),
                    room.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
            guard done == Int32(wrapped.count - overhead) else {
                throw Failure.afterCall("EVP_DecryptUpdate", .refused)
            }
        }
    }

    /// For senders of wrapped keys, and for tests.
    public static func wrap(_ inner: SecretBytes, key: SecretBytes) throws(Failure) -> [UInt8] {
        guard key.count == 32, inner.count >= 16, inner.count <= 120, inner.count % 8 == 0 else {
            throw Failure(.malformed, "not a key that can be wrapped")
        }
        var wrapped = [UInt8](repeating: 0, count: inner.count + overhead)
        let done = unsafe key.withUnsafeBytes { key in
            unsafe inner.withUnsafeBytes { inner in
                unsafe shim_aes_wrap(
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    inner.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(inner.count),
                    &wrapped)
            }
        }
        guard done == Int32(wrapped.count) else { throw Failure.afterCall("EVP_EncryptUpdate") }
        return wrapped
    }
}
