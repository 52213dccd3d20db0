import COpenSSL

/// Owner of an OpenSSL store of certificates that are trusted. OpenSSL lets many threads verify
/// with a store that is never added to.
@safe
final class TrustStore: @unchecked Sendable {
    private let pointer: OpaquePointer

    init?(_ trusted: [Certificate]) {
        guard let made = unsafe X509_STORE_new() else { return nil }
        unsafe pointer = unsafe made
        for certificate in trusted {
            guard unsafe X509_STORE_add_cert(pointer, certificate.pointer) == 1 else {
                ERR_clear_error()
                return nil
            }
        }
    }

    deinit { unsafe X509_STORE_free(pointer) }

    /// Path validation as OpenSSL does it, ending at a certificate that is trusted here.
    func trusts(
        _ leaf: Certificate, by between: [Certificate] = [], at seconds: Int64
    ) -> Bool {
        unsafe validate(leaf, by: between, at: seconds) { _ in true } ?? false
    }

    /// The same, where the path is exactly the leaf, the ones between in their order, and one of the roots
    /// that this was made of: that one. Nil says nothing about other paths.
    func root(
        of leaf: Certificate, by between: [Certificate], among roots: [Certificate],
        at seconds: Int64
    ) -> Certificate? {
        unsafe validate(leaf, by: between, at: seconds) { context in
            let path = unsafe X509_STORE_CTX_get0_chain(context)
            guard unsafe OPENSSL_sk_num(path) == Int32(between.count + 2) else {
                return nil
            }
            for (index, certificate) in ([leaf] + between).enumerated() {
                guard unsafe element(index, of: path) == certificate.pointer else {
                    return nil
                }
            }
            let last = unsafe element(between.count + 1, of: path)
            return roots.first { unsafe $0.pointer == last }
        }
    }

    private func element(_ index: Int, of stack: OpaquePointer?) -> OpaquePointer? {
        unsafe OpaquePointer(OPENSSL_sk_value(stack, Int32(index)))
    }

    /// Nil when the certificate is not trusted.
    private func validate<Result>(
        _ leaf: Certificate, by between: [Certificate], at seconds: Int64,
        then read: (OpaquePointer) -> Result?
    ) -> Result? {
        defer { ERR_clear_error() }
        guard let passed = unsafe OPENSSL_sk_new_null() else { return nil }
        // The certificates stay with their owners.
        defer { unsafe OPENSSL_sk_free(passed) }
        for certificate in between {
            guard unsafe OPENSSL_sk_push(passed, UnsafeRawPointer(certificate.pointer)) > 0 else {
                return nil
            }
        }
        guard let context = unsafe X509_STORE_CTX_new() else { return nil }
        defer { unsafe X509_STORE_CTX_free(context) }
        guard unsafe X509_STORE_CTX_init(context, pointer, leaf.pointer, passed) == 1 else {
            return nil
        }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(seconds))
        // No MD5, no SHA-1, no RSA below 2048 bits: an attacker who forges one of those would be
        // trusted.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        guard
            unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        else { return nil }
        return withExtendedLifetime((self, leaf, between)) {
            guard unsafe X509_verify_cert(context) == 1 else { return nil }
            return unsafe read(context)
        }
    }
}
