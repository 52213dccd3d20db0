import COpenSSL

/// Ed25519 (RFC 8032): signatures that need no randomness, of a fixed small size.
///
/// Keys go in and out as the 32 raw bytes of the standard: the seed for the private key, because
/// that is what must be kept, and the encoded point for the public one. PKCS #8 and
/// SubjectPublicKeyInfo are there for those who exchange keys with other programs.
public enum Ed25519 {
    public static let seedLength = 32
    public static let publicKeyLength = 32
    public static let signatureLength = 64

    /// The y-coordinates of the eight points whose order divides the cofactor: 0, 1, -1, and two
    /// of order eight, little-endian.
    private static let smallOrder: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef,
            0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88,
            0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10,
            0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77,
            0x92, 0xac, 0x03, 0x7a,
        ],
    ]

    /// The highest bit is the sign of x; the rest is y, which is below 2^255 - 19.
    private static func isSoundPoint(_ bytes: [UInt8]) -> Bool {
        let y = bytes.dropLast() + [bytes[publicKeyLength - 1] & 0x7f]
        let isReduced = y[0] < 0xed || y[31] < 0x7f || y[1..<31].contains { $0 < 0xff }
        return isReduced && !smallOrder.contains { $0.elementsEqual(y) }
    }

    public struct PrivateKey: Sendable {
        public let publicKey: PublicKey
        public let seed: SecretBytes
        let key: EVPKey

        public static func generate() throws(Failure) -> PrivateKey {
            try PrivateKey(seed: .random(seedLength))
        }

        public init(seed: SecretBytes) throws(Failure) {
            guard seed.count == seedLength else {
                throw Failure(.malformed, "a seed for Ed25519 has 32 bytes")
            }
            let pointer = unsafe seed.withUnsafeBytes { bytes in
                unsafe EVP_PKEY_new_raw_private_key_ex(
                    nil, "ED25519", nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    bytes.count)
            }
            key = try unsafe EVPKey(owning: pointer, from: "EVP_PKEY_new_raw_private_key_ex")
            publicKey = try PublicKey(of: key)
            self.seed = seed
        }

        public init(pkcs8: SecretBytes) throws(Failure) {
            let key = try EVPKey(pkcs8: pkcs8, kind: "ED25519")
            let seed = try unsafe SecretBytes(count: seedLength) { (room) throws(Failure) in
                var length = room.count
                let done = unsafe EVP_PKEY_get_raw_private_key(
                    key.pointer, room.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
                guard done == 1, length == seedLength else {
                    throw Failure.afterCall("EVP_PKEY_get_raw_private_key", .malformed)
                }
            }
            try self.init(seed: seed)
        }

        public func pkcs8() throws(Failure) -> SecretBytes { try key.pkcs8() }

        public func sign(_ message: [UInt8]) throws(Failure) -> [UInt8] {
            try key.sign(message, digest: nil)
        }
    }

    public struct PublicKey: Sendable, Hashable {
        public let bytes: [UInt8]
        let key: EVPKey

        /// Refuses what no private key has: a second spelling of a point, and the few points of
        /// small order, under which one signature fits many messages or all of them.
        public init(_ bytes: [UInt8]) throws(Failure) {
            guard bytes.count == publicKeyLength else {
                throw Failure(.malformed, "a public key of Ed25519 has 32 bytes")
            }
            guard Ed25519.isSoundPoint(bytes) else {
                throw Failure(.malformed, "a public key of Ed25519 is a point of large order")
            }
            let pointer = unsafe EVP_PKEY_new_raw_public_key_ex(
                nil, "ED25519", nil, bytes, bytes.count)
            key = try unsafe EVPKey(
                owning: pointer, from: "EVP_PKEY_new_raw_public_key_ex", .malformed)
            self.bytes = bytes
        }

        public init(spki: [UInt8]) throws(Failure) {
            guard spki.starts(with: PublicKey.prefix) else {
                throw Failure(.malformed, "not a public key of Ed25519")
            }
            try self.init(Array(spki.dropFirst(PublicKey.prefix.count)))
        }

        public var spki: [UInt8] { PublicKey.prefix + bytes }

        /// All of RFC 8410's structure that comes before the 32 bytes; it is the same for all keys.
        private static let prefix: [UInt8] = [
            0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
        ]

        init(of privateKey: EVPKey) throws(Failure) {
            var bytes = [UInt8](repeating: 0, count: publicKeyLength)
            var length = bytes.count
            let done = unsafe EVP_PKEY_get_raw_public_key(privateKey.pointer, &bytes, &length)
            guard done == 1, length == publicKeyLength else {
                throw Failure.afterCall("EVP_PKEY_get_raw_public_key")
            }
            try self.init(bytes)
        }

        /// False for bytes that are not a signature of `message`, malformed ones included.
        public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            signature.count == signatureLength
                && key.isValid(signature, for: message, digest: nil)
        }

        public static func == (left: PublicKey, right: PublicKey) -> Bool {
            left.bytes == right.bytes
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
    }
}
