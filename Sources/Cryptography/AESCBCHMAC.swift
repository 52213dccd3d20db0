import COpenSSL

/// AES-128-CBC with HMAC-SHA-256 (RFC 7518 section 5.2.3), as JOSE's A128CBC-HS256 has it.
///
/// Opening only, for senders that have nothing newer: what is sealed here is sealed by `AESGCM`. The tag is checked
/// before anything is decrypted, so that an attacker learns nothing from the padding.
public enum AESCBCHMAC {
    /// One half authenticates, the other encrypts.
    public static let keyLength = 32
    public static let nonceLength = 16
    public static let tagLength = 16
    private static let blockLength = 16

    /// The plain bytes, or `.refused` if anything at all was changed or the key is another.
    ///
    /// - Parameter sealed: Nonce ‖ ciphertext ‖ tag.
    public static func open(
        _ sealed: [UInt8], key: SecretBytes, authenticating: [UInt8]
    ) throws(Failure) -> [UInt8] {
        let overhead = nonceLength + tagLength
        guard key.count == keyLength, sealed.count >= overhead + blockLength,
            (sealed.count - overhead) % blockLength == 0
        else { throw Failure(.malformed, "not whole blocks, or a key of another length") }
        let text = sealed.dropLast(tagLength)
        let count = UInt64(authenticating.count) * 8
        let bits = (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        let tag = HMACKey(half(of: key, from: 0)).authenticate([authenticating, Array(text), bits])
        guard constantTimeEqual(Array(tag.prefix(tagLength)), Array(sealed.suffix(tagLength)))
        else {
            throw Failure(.refused, "the tag is another")
        }
        return try decrypt(
            Array(text.dropFirst(nonceLength)), key: half(of: key, from: keyLength / 2),
            nonce: Array(text.prefix(nonceLength)))
    }

    private static func half(of key: SecretBytes, from start: Int) -> SecretBytes {
        unsafe SecretBytes(count: keyLength / 2) { room in
            unsafe key.withUnsafeBytes {
                unsafe room.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: $0[start..<start + keyLength / 2]))
            }
        }
    }

    private static func decrypt(
        _ text: [UInt8], key: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw Failure.afterCall("EVP_CIPHER_CTX_new")
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let count = try AESGCM.int32(text.count)
        var room = [UInt8](repeating: 0, count: text.count + blockLength)
        var length: Int32 = 0
        var last: Int32 = 0
        let done = unsafe key.withUnsafeBytes { key -> Bool in
            unsafe EVP_DecryptInit_ex(
                context, EVP_aes_128_cbc(), nil,
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce) == 1
                && EVP_DecryptUpdate(context, &room, &length, text, count) == 1
        }
        guard done else { throw Failure.afterCall("EVP_DecryptUpdate") }
        let ended = unsafe room.withUnsafeMutableBufferPointer { room in
            unsafe room.baseAddress.map {
                unsafe EVP_DecryptFinal_ex(context, $0 + Int(length), &last) == 1
            } ?? false
        }
        guard ended else { throw Failure.afterCall("EVP_DecryptFinal_ex", .refused) }
        return Array(room.prefix(Int(length + last)))
    }
}
