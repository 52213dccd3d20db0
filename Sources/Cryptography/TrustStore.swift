import COpenSSL

/// Owner of an OpenSSL store of certificates that are trusted. OpenSSL lets many threads verify with one
/// that nobody adds to.
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

    /// Path validation as OpenSSL does it, ending at whatever is trusted here.
    func trusts(
        _ leaf: Certificate, by between: [Certificate] = [], at seconds: Int64
    ) -> Bool {
        defer { ERR_clear_error() }
        guard let passed = unsafe shim_certificates_new() else { return false }
        defer { unsafe shim_certificates_free(passed) }
        for certificate in between {
            guard unsafe shim_certificates_add(passed, certificate.pointer) == 1 else {
                return false
            }
        }
        guard let context = unsafe X509_STORE_CTX_new() else { return false }
        defer { unsafe X509_STORE_CTX_free(context) }
        guard unsafe X509_STORE_CTX_init(context, pointer, leaf.pointer, passed) == 1 else {
            return false
        }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(seconds))
        // No MD5, no SHA-1, no RSA below 2048 bits: whoever forges one of those is trusted.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        guard
            unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        else { return false }
        return withExtendedLifetime((self, leaf, between)) {
            unsafe X509_verify_cert(context) == 1
        }
    }
}
