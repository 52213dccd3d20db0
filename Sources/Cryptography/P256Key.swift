import COpenSSL

/// Owner of a key on P-256 in OpenSSL's older form.
///
/// Most signatures that come in are on this curve, each by a key that is met once, and most that go out.
/// In the newer form OpenSSL makes the curve anew for every key, which costs a third of what looking at
/// the signature does, and finds out anew for every signature how to make one. The arithmetic is the same.
@safe
final class P256Key: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Refuses what is not a point on the curve. `point` is 0x04, x, y.
    init(point: [UInt8]) throws(Failure) {
        guard let made = unsafe shim_p256_key(P256Curve.shared.pointer, point, point.count) else {
            throw Failure.afterCall("EC_KEY_oct2key", .malformed)
        }
        unsafe pointer = unsafe made
    }

    deinit { unsafe shim_p256_key_free(pointer) }

    /// Of a pair, whose private part it keeps.
    init(pair: EVPKey) throws(Failure) {
        guard let made = unsafe shim_p256_pair(pair.pointer) else {
            throw Failure.afterCall("EVP_PKEY_get1_EC_KEY", .malformed)
        }
        unsafe pointer = unsafe made
    }

    /// r ‖ s, 64 bytes. Fails without a private part.
    func sign(digest: [UInt8]) throws(Failure) -> [UInt8] {
        var done: Int32 = 0
        let size = ES256.signatureLength
        let signature = unsafe [UInt8](unsafeUninitializedCapacity: size) { room, count in
            guard let start = room.baseAddress else { return }
            done = unsafe shim_p256_sign(pointer, digest, Int32(digest.count), start)
            count = done == 1 ? size : 0
        }
        guard done == 1 else { throw Failure.afterCall("ECDSA_do_sign") }
        return signature
    }

    /// False for values that are not a signature of the message with this digest.
    func isValid(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
        let joined = signature.joined
        guard joined.count == ES256.signatureLength else { return false }
        defer { ERR_clear_error() }
        return unsafe shim_p256_is_valid_joined(
            pointer, digest, Int32(digest.count), joined) == 1
    }

    /// The same for the DER of one; only its one encoding.
    func isValid(der signature: [UInt8], digest: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        return unsafe shim_p256_is_valid(
            pointer, digest, Int32(digest.count), signature, Int32(clamping: signature.count)) == 1
    }
}

/// The curve, made once for the life of the process; keys copy it.
@safe
final class P256Curve: @unchecked Sendable {
    static let shared = P256Curve()

    /// Nil where OpenSSL was built without it: no key comes in then.
    let pointer: OpaquePointer?

    private init() { unsafe pointer = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) }
}
