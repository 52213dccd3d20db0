import COpenSSL

/// RSAES-OAEP with SHA-256 and MGF1 with SHA-256 (RFC 8017 section 7.1), as JOSE's RSA-OAEP-256 has
/// it: a short secret under a public key. The keys are those of `RS256`, with their limits.
public enum RSAOAEP {
    /// As long as the modulus.
    public static func encrypt(
        _ secret: SecretBytes, to key: RS256.PublicKey
    ) throws(Failure) -> [UInt8] {
        var room = [UInt8](repeating: 0, count: key.modulus.count)
        var length = room.count
        let done = unsafe secret.withUnsafeBytes { secret in
            unsafe shim_oaep(
                key.key.pointer, 1, secret.baseAddress?.assumingMemoryBound(to: UInt8.self),
                secret.count, &room, &length)
        }
        guard done == 1, length == room.count else { throw Failure.afterCall("EVP_PKEY_encrypt") }
        return room
    }

    /// The secret, which has to have `count` bytes.
    ///
    /// The sender of the message must not learn why decryption fails: the caller goes on with a random secret
    /// in its place, and fails where that one does (Manger's attack).
    public static func decrypt(
        _ sealed: [UInt8], by key: RS256.PrivateKey, count: Int
    ) throws(Failure) -> SecretBytes {
        guard sealed.count == key.publicKey.modulus.count else {
            throw Failure(.refused, "not as long as the modulus")
        }
        var length = sealed.count
        var done: Int32 = 0
        // OpenSSL wants room for the whole modulus, even if the secret is shorter.
        let whole = unsafe SecretBytes(count: sealed.count) { room in
            done = unsafe shim_oaep(
                key.key.pointer, 0, sealed, sealed.count,
                room.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
        }
        guard done == 1, length == count else {
            throw Failure.afterCall("EVP_PKEY_decrypt", .refused)
        }
        return unsafe SecretBytes(count: count) { room in
            unsafe whole.withUnsafeBytes {
                unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
        }
    }
}
