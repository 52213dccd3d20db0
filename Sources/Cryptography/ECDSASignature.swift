import COpenSSL

/// The two numbers of an ECDSA signature on P-256, between their two spellings.
///
/// A type of its own, because JOSE joins r and s, ASN.1 wraps them, and both must be refused in the
/// same cases before any arithmetic: zero, or not below the order of the curve. A verifier that
/// skips this accepts a signature of zeros for every message.
struct ECDSASignature {
    let r, s: [UInt8]

    var joined: [UInt8] { r + s }

    init(joined bytes: [UInt8]) throws(Failure) {
        guard bytes.count == ES256.signatureLength else {
            throw Failure(.malformed, "a signature of ES256 has 64 bytes")
        }
        r = Array(bytes.prefix(ES256.coordinateLength))
        s = Array(bytes.suffix(ES256.coordinateLength))
        guard ECDSASignature.isScalar(r), ECDSASignature.isScalar(s) else {
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
        var encoded = [UInt8](repeating: 0, count: 72)
        let length = unsafe encoded.withUnsafeMutableBufferPointer { room -> Int32 in
            guard unsafe i2d_ECDSA_SIG(signature, nil) <= 72 else { return 0 }
            var position = room.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &position)
        }
        guard length > 0 else { throw Failure.afterCall("i2d_ECDSA_SIG") }
        return Array(encoded.prefix(Int(length)))
    }

    /// Between 1 and the order of P-256 less 1. Both are public, so time may tell.
    private static func isScalar(_ bytes: [UInt8]) -> Bool {
        bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
    }

    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
        0x25, 0x51,
    ]
}
