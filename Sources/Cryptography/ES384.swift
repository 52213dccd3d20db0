import COpenSSL

/// ECDSA on P-384 with SHA-384 (RFC 7518, section 3.4), for keys that others chose: it verifies and
/// nothing else, since what Urd signs itself is ES256 or RS256.
public enum ES384 {
    public static let coordinateLength = 48
    public static let signatureLength = 96

    public struct PublicKey: Sendable, Hashable {
        /// As in a JWK: 48 bytes each, big-endian.
        public let x, y: [UInt8]
        let key: EVPKey

        /// Refuses what is not a point on the curve.
        public init(x: [UInt8], y: [UInt8]) throws(Failure) {
            guard x.count == coordinateLength, y.count == coordinateLength else {
                throw Failure(.malformed, "a coordinate of P-384 has 48 bytes")
            }
            let point = [0x04] + x + y
            key = try EVPKey(point: point, on: "secp384r1")
            self.x = x
            self.y = y
        }

        /// False for bytes that are not r ‖ s for `message`: a wrong length, r or s zero or not
        /// below the order of the curve, another key.
        public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            guard let signature = try? ECDSASignature(joined: signature, on: .p384),
                let encoded = try? signature.der()
            else { return false }
            return key.isValid(encoded, for: message, digest: "SHA384")
        }

        public static func == (left: PublicKey, right: PublicKey) -> Bool {
            left.x == right.x && left.y == right.y
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(x)
            hasher.combine(y)
        }
    }
}
