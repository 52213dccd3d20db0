import COpenSSL
import Synchronization

/// Multiples of somebody's key, made beforehand, as OpenSSL has them of the curve's generator: with them a
/// signature is looked at in two thirds of the time.
///
/// For keys that are met again and again, such as those of an issuer whose assertions a realm takes. OpenSSL
/// makes them for generators alone, so the key stands as one in a curve of its own, and what a good
/// signature is has to be said here.
@safe
final class P256Table: @unchecked Sendable {
    /// Of 150 KB each.
    static let most = 32

    private static let count = Atomic(0)
    private let pointer: OpaquePointer

    /// Nil where there are enough of them, or no memory.
    init?(of key: OpaquePointer) {
        let before = Self.count.wrappingAdd(1, ordering: .relaxed).oldValue
        guard before < Self.most, let curve = unsafe P256Curve.shared.pointer,
            let made = unsafe shim_p256_table(curve, key)
        else {
            Self.count.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        unsafe pointer = unsafe made
    }

    deinit {
        unsafe EC_GROUP_free(pointer)
        Self.count.wrappingSubtract(1, ordering: .relaxed)
    }

    /// `signature` is r ‖ s, both between 1 and the order less 1.
    func isValid(_ signature: [UInt8], digest: [UInt8]) -> Bool {
        guard signature.count == ES256.signatureLength, digest.count == SHA256.digestLength else {
            return false
        }
        return unsafe shim_p256_is_valid_by_table(
            P256Curve.shared.pointer, pointer, digest, signature) == 1
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
