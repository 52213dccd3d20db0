import COpenSSL

/// AES-256 in Galois/counter mode (NIST SP 800-38D).
///
/// Seal and open only, with the nonce inside the sealed bytes and never chosen by the caller: a
/// nonce used twice under one key would give the key stream away. Random 96-bit nonces are safe for
/// 2³² messages under one key, so keys belong to one subject or one purpose, not to a server.
public enum AESGCM {
    public static let keyLength = 32
    public static let nonceLength = 12
    public static let tagLength = 16
    /// What sealing adds to the length.
    public static let overhead = nonceLength + tagLength

    /// Nonce ‖ ciphertext ‖ tag. `authenticating` is bound to it but not contained: say there whose
    /// and what kind of bytes these are, so that they cannot be moved elsewhere.
    public static func seal(
        _ plain: [UInt8], key: SecretBytes, authenticating: [UInt8] = []
    ) throws(Failure) -> [UInt8] {
        try seal(plain, key: key, nonce: nil, authenticating: authenticating)
    }

    /// With a chosen nonce, for known-answer tests only; `nil` draws one.
    static func seal(
        _ plain: [UInt8], key: SecretBytes, nonce: [UInt8]?, authenticating: [UInt8]
    ) throws(Failure) -> [UInt8] {
        precondition((nonce?.count ?? nonceLength) == nonceLength, "A nonce has 12 bytes")
        let length = try int32(plain.count)
        let cipher = try Cipher()
        return try unsafe filled(plain.count + overhead) { (room) throws(Failure) in
            let start = unsafe UnsafeMutableRawBufferPointer(start: room, count: nonceLength)
            if let nonce { unsafe start.copyBytes(from: nonce) } else { unsafe Random.fill(start) }
            try unsafe cipher.start(key: key, nonce: room, sealing: true)
            try cipher.absorb(authenticating)
            try unsafe plain.withUnsafeBufferPointer { (input) throws(Failure) in
                try unsafe cipher.convert(
                    input.baseAddress, count: length, into: room + nonceLength)
            }
            try unsafe cipher.finish(givingTag: room + nonceLength + plain.count)
        }
    }

    /// The plain bytes, or `.refused` if anything at all was changed or the key is another,
    /// or `.malformed` if they are too short to have been sealed.
    public static func open(
        _ sealed: [UInt8], key: SecretBytes, authenticating: [UInt8] = []
    ) throws(Failure) -> [UInt8] {
        guard sealed.count >= overhead else {
            throw Failure(.malformed, "sealed bytes are shorter than nonce and tag")
        }
        let count = sealed.count - overhead
        let length = try int32(count)
        let cipher = try Cipher()
        return try unsafe filled(count) { (room) throws(Failure) in
            try unsafe sealed.withUnsafeBufferPointer { (input) throws(Failure) in
                guard let input = input.baseAddress else { return }
                try unsafe cipher.start(key: key, nonce: input, sealing: false)
                try cipher.absorb(authenticating)
                try unsafe cipher.convert(input + nonceLength, count: length, into: room)
                try unsafe cipher.finish(expectingTag: input + nonceLength + count)
            }
        }
    }

    /// OpenSSL counts in `Int32`; a gibibyte is far beyond what anybody should seal in one piece.
    fileprivate static func int32(_ count: Int) throws(Failure) -> Int32 {
        guard count <= 1 << 30, let length = Int32(exactly: count) else {
            throw Failure(.tooLarge, "more than a gibibyte at once")
        }
        return length
    }

    /// An array that `fill` writes whole. If it throws, what it wrote is wiped and freed: nobody
    /// sees plain bytes whose tag was wrong.
    private static func filled(
        _ count: Int, _ fill: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var failure: Failure?
        // One byte more than needed, because an array without capacity has no memory at all.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { room, initialized in
            guard let start = room.baseAddress else { return }
            do throws(Failure) {
                try unsafe fill(start)
                initialized = count
            } catch {
                unsafe OPENSSL_cleanse(start, count)
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

/// One use of OpenSSL's cipher context, which wipes itself when it is freed.
@safe
private struct Cipher: ~Copyable {
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
