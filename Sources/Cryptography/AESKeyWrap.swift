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
                unsafe convert(
                    wrapped, Int32(wrapped.count),
                    key: key.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    into: room.baseAddress?.assumingMemoryBound(to: UInt8.self), wrapping: false)
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
                unsafe convert(
                    inner.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(inner.count),
                    key: key.baseAddress?.assumingMemoryBound(to: UInt8.self), into: &wrapped,
                    wrapping: true)
            }
        }
        guard done == Int32(wrapped.count) else { throw Failure.afterCall("EVP_EncryptUpdate") }
        return wrapped
    }

    /// The length of what is in `room` then, or -1.
    private static func convert(
        _ bytes: UnsafePointer<UInt8>?, _ count: Int32, key: UnsafePointer<UInt8>?,
        into room: UnsafeMutablePointer<UInt8>?, wrapping: Bool
    ) -> Int32 {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { return -1 }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        var length: Int32 = 0
        var last: Int32 = 0
        guard
            unsafe EVP_CipherInit_ex(
                context, EVP_aes_256_wrap(), nil, key, nil, wrapping ? 1 : 0) == 1,
            unsafe EVP_CipherUpdate(context, room, &length, bytes, count) == 1,
            let end = unsafe room.map({ unsafe $0 + Int(length) }),
            unsafe EVP_CipherFinal_ex(context, end, &last) == 1
        else { return -1 }
        return length
    }
}
