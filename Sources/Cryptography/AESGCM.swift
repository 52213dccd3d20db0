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

    /// A key wrapped by another key: what is sealed never lies in an array.
    public static func seal(
        _ plain: SecretBytes, key: SecretBytes, authenticating: [UInt8] = []
    ) throws(Failure) -> [UInt8] {
        try unsafe plain.withUnsafeBytes { (plain) throws(Failure) in
            try unsafe seal(
                plain.baseAddress?.assumingMemoryBound(to: UInt8.self), count: plain.count,
                key: key, nonce: nil, authenticating: authenticating)
        }
    }

    /// The plain bytes, or `.refused` if anything at all was changed or the key is another,
    /// or `.malformed` if they are too short to have been sealed.
    public static func open(
        _ sealed: [UInt8], key: SecretBytes, authenticating: [UInt8] = []
    ) throws(Failure) -> [UInt8] {
        try unsafe filled(plainCount(sealed)) { (room) throws(Failure) in
            try unsafe open(sealed, key: key, authenticating: authenticating, into: room)
        }
    }

    /// With a chosen nonce, for known-answer tests only; `nil` draws one.
    static func seal(
        _ plain: [UInt8], key: SecretBytes, nonce: [UInt8]?, authenticating: [UInt8]
    ) throws(Failure) -> [UInt8] {
        try unsafe plain.withUnsafeBufferPointer { (plain) throws(Failure) in
            try unsafe seal(
                plain.baseAddress, count: plain.count, key: key, nonce: nonce,
                authenticating: authenticating)
        }
    }

    private static func seal(
        _ plain: UnsafePointer<UInt8>?, count: Int, key: SecretBytes, nonce: [UInt8]?,
        authenticating: [UInt8]
    ) throws(Failure) -> [UInt8] {
        precondition((nonce?.count ?? nonceLength) == nonceLength, "A nonce has 12 bytes")
        let length = try int32(count)
        let cipher = try Cipher()
        return try unsafe filled(count + overhead) { (room) throws(Failure) in
            let start = unsafe UnsafeMutableRawBufferPointer(start: room, count: nonceLength)
            if let nonce { unsafe start.copyBytes(from: nonce) } else { unsafe Random.fill(start) }
            try unsafe cipher.start(key: key, nonce: room, sealing: true)
            try cipher.absorb(authenticating)
            try unsafe cipher.convert(plain, count: length, into: room + nonceLength)
            try unsafe cipher.finish(givingTag: room + nonceLength + count)
        }
    }

    private static func plainCount(_ sealed: [UInt8]) throws(Failure) -> Int {
        guard sealed.count >= overhead else {
            throw Failure(.malformed, "sealed bytes are shorter than nonce and tag")
        }
        return sealed.count - overhead
    }

    /// `room` is for as many bytes as `plainCount` says.
    private static func open(
        _ sealed: [UInt8], key: SecretBytes, authenticating: [UInt8],
        into room: UnsafeMutablePointer<UInt8>
    ) throws(Failure) {
        let count = try plainCount(sealed)
        let length = try int32(count)
        let cipher = try Cipher()
        try unsafe sealed.withUnsafeBufferPointer { (input) throws(Failure) in
            guard let input = input.baseAddress else { return }
            try unsafe cipher.start(key: key, nonce: input, sealing: false)
            try cipher.absorb(authenticating)
            try unsafe cipher.convert(input + nonceLength, count: length, into: room)
            try unsafe cipher.finish(expectingTag: input + nonceLength + count)
        }
    }

    /// OpenSSL counts in `Int32`; a gibibyte is far more than should be sealed in one piece.
    static func int32(_ count: Int) throws(Failure) -> Int32 {
        guard count <= 1 << 30, let length = Int32(exactly: count) else {
            throw Failure(.tooLarge, "more than a gibibyte at once")
        }
        return length
    }

    /// An array that `fill` writes whole. If it throws, what it wrote is wiped and freed: no caller
    /// sees plaintext whose tag was wrong.
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
