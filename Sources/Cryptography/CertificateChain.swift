import COpenSSL

/// Certificates in the order in which each is issued by the next, leaf first.
public struct CertificateChain: Sendable {
    /// Real chains have up to five.
    public static let maximumCount = 8

    public enum Flaw: Error, Sendable, Hashable, CaseIterable {
        case empty, tooLong, outOfDate, broken, notAnAuthority, untrusted
    }

    public let certificates: [Certificate]

    public init(_ certificates: [Certificate]) throws(Flaw) {
        guard !certificates.isEmpty else { throw .empty }
        guard certificates.count <= CertificateChain.maximumCount else { throw .tooLong }
        self.certificates = certificates
    }

    /// That the chain holds in itself: each is issued by the next, which is an authority, and all
    /// are valid at that time. Says nothing about whom the last one belongs to.
    public func check(at seconds: Int64) throws(Flaw) {
        guard certificates.allSatisfy({ $0.isValid(at: seconds) }) else { throw .outOfDate }
        for (certificate, issuer) in zip(certificates, certificates.dropFirst()) {
            guard certificate.isIssued(by: issuer) else { throw .broken }
            guard issuer.isAuthority == true else { throw .notAnAuthority }
        }
    }

    /// Path validation as OpenSSL does it, ending at one of the roots, at that time. A root may be
    /// an intermediate certificate or the leaf itself, if that is what somebody chose to trust.
    public func checkTrust(roots: [Certificate], at seconds: Int64) throws(Flaw) {
        guard let leaf = certificates.first else { throw .empty }
        let trusted = isVerified(leaf, roots: roots, at: seconds)
        ERR_clear_error()
        guard trusted else { throw .untrusted }
    }

    private func isVerified(_ leaf: Certificate, roots: [Certificate], at seconds: Int64) -> Bool {
        guard let store = unsafe X509_STORE_new() else { return false }
        defer { unsafe X509_STORE_free(store) }
        for root in roots {
            guard unsafe X509_STORE_add_cert(store, root.pointer) == 1 else { return false }
        }
        guard let between = unsafe shim_certificates_new() else { return false }
        defer { unsafe shim_certificates_free(between) }
        for certificate in certificates.dropFirst() {
            guard unsafe shim_certificates_add(between, certificate.pointer) == 1 else {
                return false
            }
        }
        guard let context = unsafe X509_STORE_CTX_new() else { return false }
        defer { unsafe X509_STORE_CTX_free(context) }
        guard unsafe X509_STORE_CTX_init(context, store, leaf.pointer, between) == 1 else {
            return false
        }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(seconds))
        // No MD5, no SHA-1, no RSA below 2048 bits: whoever forges one of those is trusted.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        guard
            unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        else { return false }
        return withExtendedLifetime((roots, certificates)) {
            unsafe X509_verify_cert(context) == 1
        }
    }
}
