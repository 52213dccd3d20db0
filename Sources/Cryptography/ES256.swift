import COpenSSL

/// ECDSA on P-256 with SHA-256, as JOSE (RFC 7518, section 3.4) and WebAuthn use it.
///
/// A private key proves itself when it comes in: it signs once, and its public part must agree. A
/// public key is its two coordinates, in any encoding it came in, so that equal keys are equal
/// bytes.
public enum ES256 {
    public static let coordinateLength = 32
    public static let signatureLength = 64

    public struct PrivateKey: Sendable {
        public let publicKey: PublicKey
        let key: EVPKey
        private let signer: P256Key

        public static func generate() throws(Failure) -> PrivateKey {
            try unsafe PrivateKey(
                EVPKey(owning: shim_generate_p256(), from: "EVP_PKEY_Q_keygen"))
        }

        public init(pkcs8: SecretBytes) throws(Failure) {
            let key = try EVPKey(pkcs8: pkcs8, kind: "EC")
            try key.checkCurve()
            try self.init(key)
            let signature = try sign([])
            guard publicKey.isValid(signature, for: []) else {
                throw Failure(.malformed, "the public part belongs to another private key")
            }
        }

        private init(_ key: EVPKey) throws(Failure) {
            self.key = key
            signer = try P256Key(pair: key)
            publicKey = try PublicKey(
                x: key.number(OSSL_PKEY_PARAM_EC_PUB_X, length: coordinateLength),
                y: key.number(OSSL_PKEY_PARAM_EC_PUB_Y, length: coordinateLength))
        }

        public func pkcs8() throws(Failure) -> SecretBytes { try key.pkcs8() }

        /// r ‖ s, 64 bytes, as JOSE wants it.
        public func sign(_ message: [UInt8]) throws(Failure) -> [UInt8] {
            try signer.sign(digest: SHA256.hash(message))
        }
    }

    public struct PublicKey: Sendable, Hashable {
        /// As in a JWK: 32 bytes each, big-endian.
        public let x, y: [UInt8]
        let key: P256Key

        /// Refuses what is not a point on the curve.
        public init(x: [UInt8], y: [UInt8]) throws(Failure) {
            guard x.count == coordinateLength, y.count == coordinateLength else {
                throw Failure(.malformed, "a coordinate of P-256 has 32 bytes")
            }
            key = try P256Key(point: [0x04] + x + y)
            self.x = x
            self.y = y
        }

        /// Named curve and uncompressed point only, which is what everybody writes. There is one
        /// such encoding of a key, so no decoder is needed to read it.
        public init(spki: [UInt8]) throws(Failure) {
            let coordinates = Array(spki.dropFirst(PublicKey.prefix.count))
            guard spki.starts(with: PublicKey.prefix),
                coordinates.count == 2 * coordinateLength
            else { throw Failure(.malformed, "not an uncompressed public key of P-256") }
            try self.init(
                x: Array(coordinates.prefix(coordinateLength)),
                y: Array(coordinates.suffix(coordinateLength)))
        }

        public var spki: [UInt8] { PublicKey.prefix + x + y }

        /// False for bytes that are not r ‖ s for `message`: a wrong length, r or s zero or not
        /// below the order of the curve, another key.
        public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            guard let signature = try? ECDSASignature(joined: signature) else { return false }
            return key.isValid(signature, digest: SHA256.hash(message))
        }

        /// The same for the ASN.1 form, which WebAuthn and TLS use; only its one DER encoding.
        public func isValid(der signature: [UInt8], for message: [UInt8]) -> Bool {
            guard let parsed = try? ECDSASignature(der: signature),
                let encoded = try? parsed.der(), encoded == signature
            else { return false }
            return key.isValid(parsed, digest: SHA256.hash(message))
        }

        public static func == (left: PublicKey, right: PublicKey) -> Bool {
            left.x == right.x && left.y == right.y
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(x)
            hasher.combine(y)
        }

        /// Sequence, algorithm ecPublicKey with curve prime256v1, and the head of the bit string
        /// up to the 0x04 of an uncompressed point.
        private static let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
            0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
    }
}

extension EVPKey {
    /// P-256 by its name. A curve that is spelled out in the key is refused even if it is the same:
    /// a spelled out curve may differ in its generator alone.
    fileprivate func checkCurve() throws(Failure) {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        var isSpelledOut: Int32 = 1
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1,
            unsafe EVP_PKEY_get_int_param(
                pointer, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isSpelledOut) == 1
        else { throw Failure.afterCall("EVP_PKEY_get_group_name", .malformed) }
        let curve = name.prefix(length).map { UInt8(bitPattern: $0) }
        guard isSpelledOut == 0, curve.elementsEqual("prime256v1".utf8) else {
            throw Failure(.malformed, "not a key on P-256")
        }
    }
}
