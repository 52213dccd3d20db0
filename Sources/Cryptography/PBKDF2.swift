import COpenSSL

/// PBKDF2 (RFC 8018): what some clients make of a passphrase before they send it, and what other systems kept of one.
///
/// Hundreds of thousands of rounds take tenths of a second: never on the cooperative pool.
public enum PBKDF2 {
    public static let rounds = 1...5_000_000

    /// The hash function under it. What broke SHA-1 are collisions, on which this does not rest.
    public enum Function: Sendable {
        case sha1, sha256, sha512

        /// In bytes, of one block.
        public var length: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        fileprivate var digest: OpaquePointer? {
            switch self {
            case .sha1: unsafe EVP_sha1()
            case .sha256: unsafe EVP_sha256()
            case .sha512: unsafe EVP_sha512()
            }
        }
    }

    public static func derive(
        _ passphrase: SecretBytes, salt: [UInt8], rounds: Int, length: Int = 32,
        by function: Function = .sha256
    ) throws(Failure) -> SecretBytes {
        precondition((1...1024).contains(length), "A derived key has 1 to 1024 bytes")
        guard self.rounds.contains(rounds), passphrase.count <= 1 << 16, salt.count <= 1 << 16
        else { throw Failure(.tooLarge, "PBKDF2 would work too long") }
        return try unsafe SecretBytes(count: length) { (room) throws(Failure) in
            let done = unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe PKCS5_PBKDF2_HMAC(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(passphrase.count), salt, Int32(salt.count), Int32(rounds),
                    function.digest,
                    Int32(room.count), room.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
            guard done == 1 else { throw Failure.afterCall("PKCS5_PBKDF2_HMAC") }
        }
    }
}
