import COpenSSL

/// AES-256-CTR from a counter of zero (NIST SP 800-38A), as Firebase makes its hashes of passphrases.
///
/// It authenticates nothing, and a key is good for one text: what is sealed here is sealed by `AESGCM`.
public enum AESCTR {
    public static let keyLength = 32

    public static func encrypt(_ text: [UInt8], key: SecretBytes) throws(Failure) -> [UInt8] {
        guard key.count == keyLength else {
            throw Failure(.malformed, "a key for AES-256 has 32 bytes")
        }
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw Failure.afterCall("EVP_CIPHER_CTX_new")
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let count = try AESGCM.int32(text.count)
        var room = [UInt8](repeating: 0, count: text.count)
        var length: Int32 = 0
        let counter = [UInt8](repeating: 0, count: 16)
        let done = unsafe key.withUnsafeBytes { key -> Bool in
            unsafe EVP_EncryptInit_ex(
                context, EVP_aes_256_ctr(), nil,
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), counter) == 1
                && EVP_EncryptUpdate(context, &room, &length, text, count) == 1
        }
        guard done, length == count else { throw Failure.afterCall("EVP_EncryptUpdate") }
        return room
    }
}
