import COpenSSL

/// HMAC-SHA-1, for the one-time codes of RFC 4226 and RFC 6238 alone: authenticator apps know
/// nothing newer. What broke SHA-1 are collisions, on which HMAC does not rest.
public enum HMACSHA1 {
    public static let tagLength = 20

    public static func authenticate(_ bytes: [UInt8], key: SecretBytes) throws(Failure) -> [UInt8] {
        // OpenSSL counts the bytes of a key in an Int32.
        guard key.count <= 4096 else {
            throw Failure(.tooLarge, "a key of \(key.count) bytes for HMAC-SHA-1")
        }
        var tag = [UInt8](repeating: 0, count: tagLength)
        var length: UInt32 = 0
        let done = unsafe key.withUnsafeBytes { key in
            unsafe HMAC(
                EVP_sha1(), key.baseAddress, Int32(key.count), bytes, bytes.count, &tag, &length)
                != nil
        }
        guard done, length == tagLength else { throw Failure.afterCall("HMAC") }
        return tag
    }
}
