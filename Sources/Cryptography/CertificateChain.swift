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
    /// an intermediate certificate or the leaf itself, if the caller trusts that certificate.
    public func checkTrust(roots: [Certificate], at seconds: Int64) throws(Flaw) {
        guard let leaf = certificates.first else { throw .empty }
        let store = TrustStore(roots)
        guard store?.trusts(leaf, by: Array(certificates.dropFirst()), at: seconds) == true else {
            throw .untrusted
        }
    }
}
