import COpenSSL

/// One use of OpenSSL's cipher context, for AES-256-GCM.
///
/// Not copyable, so that exactly one `deinit` frees it, and OpenSSL then wipes the key schedule in
/// it. One for each use rather than one that is kept: opening 150 bytes takes 0.6 microseconds with
/// it, which leaves nothing worth a lock or a home in each thread.
@safe
struct Cipher: ~Copyable {
    /// Fetched once: a fetch by name takes longer than sealing a short message.
    private static let algorithm = Algorithm(name: "AES-256-GCM")

    private let context: OpaquePointer

    init() throws(Failure) {
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw Failure.afterCall("EVP_CIPHER_CTX_new")
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    func start(
        key: SecretBytes, nonce: UnsafePointer<UInt8>, sealing: Bool
    ) throws(Failure) {
        guard key.count == AESGCM.keyLength else {
            throw Failure(.malformed, "a key for AES-256 has 32 bytes")
        }
        let done = unsafe key.withUnsafeBytes { key in
            unsafe EVP_CipherInit_ex2(
                context, Cipher.algorithm.pointer,
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce, sealing ? 1 : 0, nil)
        }
        guard done == 1 else { throw Failure.afterCall("EVP_CipherInit_ex2") }
    }

    func absorb(_ authenticated: [UInt8]) throws(Failure) {
        guard !authenticated.isEmpty else { return }
        let length = try AESGCM.int32(authenticated.count)
        var written: Int32 = 0
        let done = unsafe EVP_CipherUpdate(context, nil, &written, authenticated, length)
        guard done == 1 else { throw Failure.afterCall("EVP_CipherUpdate") }
    }

    func convert(
        _ input: UnsafePointer<UInt8>?, count: Int32, into output: UnsafeMutablePointer<UInt8>
    ) throws(Failure) {
        guard count > 0 else { return }
        var written: Int32 = 0
        let done = unsafe EVP_CipherUpdate(context, output, &written, input, count)
        guard done == 1, written == count else { throw Failure.afterCall("EVP_CipherUpdate") }
    }

    func finish(givingTag tag: UnsafeMutablePointer<UInt8>) throws(Failure) {
        guard finish() else { throw Failure.afterCall("EVP_CipherFinal_ex") }
        let done = unsafe EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCM.tagLength), tag)
        guard done == 1 else { throw Failure.afterCall("EVP_CIPHER_CTX_ctrl") }
    }

    func finish(expectingTag tag: UnsafePointer<UInt8>) throws(Failure) {
        // The same parameter serves for giving and for taking, so it is not const; this only reads.
        let done = unsafe EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, Int32(AESGCM.tagLength),
            UnsafeMutablePointer(mutating: tag))
        guard done == 1 else { throw Failure.afterCall("EVP_CIPHER_CTX_ctrl") }
        guard finish() else { throw Failure.afterCall("EVP_CipherFinal_ex", .refused) }
    }

    /// In this mode nothing is left over to be written, yet OpenSSL wants a place for it.
    private func finish() -> Bool {
        var block: (UInt64, UInt64) = (0, 0)
        var written: Int32 = 0
        return unsafe withUnsafeMutableBytes(of: &block) { block in
            unsafe EVP_CipherFinal_ex(
                context, block.baseAddress?.assumingMemoryBound(to: UInt8.self), &written)
        } == 1
    }
}

/// A cipher that stays fetched for the life of the process.
@safe
private final class Algorithm: @unchecked Sendable {
    /// `nil` if OpenSSL was built without it: the first use then fails with OpenSSL's words.
    let pointer: OpaquePointer?

    init(name: String) { unsafe pointer = EVP_CIPHER_fetch(nil, name, nil) }
}
