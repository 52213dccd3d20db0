import COpenSSL

/// RSA with PKCS #1 v1.5 padding and SHA-256, as JOSE (RFC 7518, section 3.3) uses it, for
/// clients that know nothing newer.
///
/// The modulus has 2048 to 8192 bits: below, it can be broken; above, a third party's key would
/// decide how long this process computes. For the same reason the exponent has at most 32 bits.
public enum RS256 {
    public static let bitsAllowed = 2048...8192

    public struct PrivateKey: Sendable {
        public let publicKey: PublicKey
        let key: EVPKey

        /// Takes a tenth of a second for 2048 bits and seconds for more.
        public static func generate(bits: Int = 2048) throws(Failure) -> PrivateKey {
            guard [2048, 3072, 4096].contains(bits) else {
                throw Failure(.malformed, "RSA keys are made with 2048, 3072 or 4096 bits")
            }
            return try unsafe PrivateKey(
                EVPKey(owning: shim_generate_rsa(bits), from: "EVP_PKEY_Q_keygen"))
        }

        /// The key must sign correctly once: a private part that does not fit would otherwise show
        /// in every signature, and a flaw in its primes would give them away.
        public init(pkcs8: SecretBytes) throws(Failure) {
            try self.init(EVPKey(pkcs8: pkcs8, kind: "RSA"))
            guard let signature = try? sign([]), publicKey.isValid(signature, for: []) else {
                throw Failure(.malformed, "the parts of the private key do not fit")
            }
        }

        private init(_ key: EVPKey) throws(Failure) {
            self.key = key
            publicKey = try PublicKey(of: key)
        }

        public func pkcs8() throws(Failure) -> SecretBytes { try key.pkcs8() }

        public func sign(_ message: [UInt8]) throws(Failure) -> [UInt8] {
            try key.sign(message, digest: "SHA256")
        }
    }

    public struct PublicKey: Sendable, Hashable {
        /// As in a JWK: big-endian, no leading zero.
        public let modulus, exponent: [UInt8]
        let key: EVPKey

        public init(modulus: [UInt8], exponent: [UInt8]) throws(Failure) {
            guard let first = modulus.first, let last = modulus.last, first != 0, last & 1 == 1,
                bitsAllowed.contains(modulus.count * 8 - first.leadingZeroBitCount)
            else {
                throw Failure(.malformed, "a modulus is odd and has 2048 to 8192 bits")
            }
            guard let start = exponent.first, let end = exponent.last, start != 0, end & 1 == 1,
                exponent.count <= 4, exponent != [1]
            else { throw Failure(.malformed, "an exponent is odd, above 1, and has 32 bits") }
            key = try unsafe EVPKey(
                owning: shim_rsa_public_key(
                    modulus, Int32(modulus.count), exponent, Int32(exponent.count)),
                from: "EVP_PKEY_fromdata", .malformed)
            self.modulus = modulus
            self.exponent = exponent
        }

        public init(spki: [UInt8]) throws(Failure) {
            try self.init(of: EVPKey(spki: spki, kind: "RSA"))
        }

        init(of key: EVPKey) throws(Failure) {
            try self.init(
                modulus: key.number(OSSL_PKEY_PARAM_RSA_N),
                exponent: key.number(OSSL_PKEY_PARAM_RSA_E))
        }

        public func spki() throws(Failure) -> [UInt8] { try key.spki() }

        /// False for anything but a signature of `message`, malformed ones included.
        public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            signature.count == modulus.count
                && key.isValid(signature, for: message, digest: "SHA256")
        }

        /// The same for the padding that JOSE calls PS256 (RFC 7518, section 3.5): PSS with SHA-256
        /// and a salt of its length. Others sign so; we verify it only.
        public func isValidPSS(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            signature.count == modulus.count
                && key.isValidPSS(signature, for: message, digest: "SHA256")
        }

        public static func == (left: PublicKey, right: PublicKey) -> Bool {
            left.modulus == right.modulus && left.exponent == right.exponent
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(modulus)
            hasher.combine(exponent)
        }
    }
}
