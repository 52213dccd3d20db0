import COpenSSL

/// The two numbers of an ECDSA signature, between their two spellings.
///
/// A type of its own, because JOSE joins r and s, ASN.1 wraps them, and both must be refused in the
/// same cases before any arithmetic: zero, or not below the order of the curve. A verifier that
/// skips this accepts a signature of zeros for every message.
struct ECDSASignature {
    let r, s: [UInt8]

    var joined: [UInt8] { r + s }

    init(joined bytes: [UInt8], on curve: Curve = .p256) throws(Failure) {
        guard bytes.count == 2 * curve.order.count else {
            throw Failure(.malformed, "r and s are as long as the order of their curve")
        }
        r = Array(bytes.prefix(curve.order.count))
        s = Array(bytes.suffix(curve.order.count))
        guard curve.isScalar(r), curve.isScalar(s) else {
            throw Failure(.malformed, "r or s is zero or not below the order")
        }
    }

    /// Tolerates what OpenSSL tolerates; who needs the one right encoding compares with `der()`.
    init(der bytes: [UInt8]) throws(Failure) {
        // Two numbers of up to 33 bytes, each with two bytes before it, and two for the whole.
        guard bytes.count <= 72 else { throw Failure(.malformed, "a signature is too long") }
        let parsed = unsafe bytes.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &position, bytes.count)
        }
        guard let parsed = unsafe parsed else {
            throw Failure.afterCall("d2i_ECDSA_SIG", .malformed)
        }
        defer { unsafe ECDSA_SIG_free(parsed) }
        guard let r = unsafe ECDSA_SIG_get0_r(parsed), let s = unsafe ECDSA_SIG_get0_s(parsed),
            unsafe BN_is_negative(r) == 0, unsafe BN_is_negative(s) == 0,
            unsafe BN_num_bits(r) <= 256, unsafe BN_num_bits(s) <= 256
        else { throw Failure(.malformed, "r or s is negative or too long") }
        try unsafe self.init(
            joined: bigEndian(r, length: ES256.coordinateLength)
                + bigEndian(s, length: ES256.coordinateLength))
    }

    func der() throws(Failure) -> [UInt8] {
        guard let signature = unsafe ECDSA_SIG_new() else {
            throw Failure.afterCall("ECDSA_SIG_new")
        }
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = unsafe BN_bin2bn(r, Int32(r.count), nil)
        let s = unsafe BN_bin2bn(s, Int32(s.count), nil)
        // Takes both numbers over, but only if it succeeds.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            throw Failure.afterCall("ECDSA_SIG_set0")
        }
        // Below 128 bytes of content for both curves, so that the head has two bytes.
        let most = 2 * (self.r.count + 3) + 2
        var encoded = [UInt8](repeating: 0, count: most)
        let length = unsafe encoded.withUnsafeMutableBufferPointer { room -> Int32 in
            guard unsafe Int(i2d_ECDSA_SIG(signature, nil)) <= most else { return 0 }
            var position = room.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &position)
        }
        guard length > 0 else { throw Failure.afterCall("i2d_ECDSA_SIG") }
        return Array(encoded.prefix(Int(length)))
    }

    /// A curve, as far as signatures must know it.
    struct Curve {
        let order: [UInt8]

        /// Between 1 and the order less 1. Both are public, so time may tell.
        func isScalar(_ bytes: [UInt8]) -> Bool {
            bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
        }

        /// FIPS 186-4, D.1.2.3.
        static let p256 = Curve(order: [
            0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2,
            0xfc, 0x63, 0x25, 0x51,
        ])

        /// FIPS 186-4, D.1.2.4.
        static let p384 = Curve(order: [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7, 0x63, 0x4d, 0x81,
            0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a, 0x0d, 0xb2, 0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec,
            0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73,
        ])
    }
}
