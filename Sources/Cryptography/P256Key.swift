import COpenSSL

/// Owner of a public key on P-256 in OpenSSL's older form.
///
/// Most signatures that come in are on this curve, each by a key that is met once. In the newer form
/// OpenSSL makes the curve anew for every key, which costs a third of what looking at the signature does.
/// The arithmetic is the same.
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

    /// False for whatever is not the DER of a signature of what has this digest.
    func isValid(der signature: [UInt8], digest: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        return unsafe shim_p256_is_valid(
            pointer, digest, Int32(digest.count), signature, Int32(clamping: signature.count)) == 1
    }
}

/// The curve, made once for the life of the process; keys copy it.
@safe
private final class P256Curve: @unchecked Sendable {
    static let shared = P256Curve()

    /// Nil where OpenSSL was built without it: no key comes in then.
    let pointer: OpaquePointer?

    private init() { unsafe pointer = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) }
}
