import Cryptography
import Testing

@testable import SecurityKeysTesting

@Suite struct `Issuers that are known to be good` {
    private let authority: CertificateAuthority
    private let known = KnownIssuers(capacity: 2)
    /// In 2026.
    private let now: Int64 = 1_780_000_000

    init() throws { authority = try CertificateAuthority() }

    private func leaf(
        _ authority: CertificateAuthority, _ change: (inout CertificateDraft) -> Void = { _ in }
    ) throws -> Certificate {
        var draft = CertificateDraft(key: try ES256.PrivateKey.generate().publicKey.spki)
        draft.issuer = CertificateAuthority.intermediateName
        change(&draft)
        return try Certificate(der: draft.signed(by: authority.intermediateKey))
    }

    private func roots(_ all: CertificateAuthority...) throws -> [Certificate] {
        try all.map { try Certificate(der: $0.root) }
    }

    private func meet(
        _ authority: CertificateAuthority, _ roots: [Certificate], at time: Int64? = nil,
        _ change: (inout CertificateDraft) -> Void = { _ in }
    ) throws -> Bool {
        known.meet(
            try Certificate(der: authority.intermediate), of: try leaf(authority, change),
            roots: roots, at: time ?? now)
    }

    private func remember(_ authority: CertificateAuthority) throws {
        #expect(try meet(authority, roots(authority)))
    }

    private func vouches(
        _ leaf: Certificate, _ roots: [Certificate], at time: Int64? = nil
    ) -> Bool {
        known.vouch(
            for: leaf, issuer: authority.intermediate, roots: roots, at: time ?? now)
    }

    @Test func `known issuers vouch for certificates once these were verified`() throws {
        let leaf = try leaf(authority)
        #expect(try !vouches(leaf, roots(authority)))
        try remember(authority)
        #expect(try vouches(leaf, roots(authority)))
    }

    @Test
    func `known issuers vouch for no foreign, changed or expired certificates, or other roots`()
        throws
    {
        try remember(authority)
        let other = try CertificateAuthority()
        let good = try roots(authority)
        #expect(try !vouches(leaf(other), good))
        #expect(try !vouches(leaf(authority) { $0.issuer = CertificateAuthority.name }, good))
        #expect(try !vouches(leaf(authority) { $0.notAfter = "20250101000000Z" }, good))
        #expect(try !vouches(leaf(authority) { $0.notBefore = "20450101000000Z" }, good))
        #expect(try !vouches(leaf(authority), roots(other)))
        #expect(try !vouches(leaf(authority), []))
        var bytes = try leaf(authority).der
        bytes[bytes.count - 1] ^= 1
        #expect(try !vouches(Certificate(der: bytes), good))
        // The issuer and the root get old as well.
        #expect(try !vouches(leaf(authority), good, at: 4_000_000_000))
        #expect(try !vouches(leaf(authority), good, at: 1_600_000_000))
    }

    @Test func `known issuers are remembered by the exact bytes whose signature was verified`()
        throws
    {
        try remember(authority)
        let other = try CertificateAuthority.intermediate(
            of: authority.intermediateKey, by: CertificateAuthority().key)
        #expect(
            try !known.vouch(
                for: leaf(authority), issuer: other, roots: roots(authority), at: now))
    }

    @Test func `known issuers are not remembered below a root that did not issue them`() throws {
        #expect(try !meet(authority, roots(CertificateAuthority())))
        #expect(try !meet(authority, []))
        #expect(try !vouches(leaf(authority), roots(authority)))
    }

    @Test func `known issuers are not remembered with a changed leaf or an expired certificate`()
        throws
    {
        let good = try roots(authority)
        #expect(try !meet(authority, good) { $0.notAfter = "20250101000000Z" })
        #expect(try !meet(authority, good) { $0.issuer = CertificateAuthority.name })
        #expect(try !meet(authority, good, at: 4_000_000_000))
        #expect(try !meet(authority, good, at: 1_600_000_000))
        #expect(try !vouches(leaf(authority), good))
    }

    @Test func `known issuers are found below their own root among others`() throws {
        let key = try ES256.PrivateKey.generate()
        var draft = CertificateDraft(key: key.publicKey.spki)
        draft.subject = [("2.5.4.3", "Another authority")]
        draft.issuer = draft.subject
        draft.isAuthority = true
        let other = try Certificate(der: draft.signed(by: key))
        let own = try roots(authority)
        #expect(try meet(authority, [other] + own))
        #expect(try vouches(leaf(authority), own))
        #expect(try !vouches(leaf(authority), [other]))
    }

    @Test func `known issuers are no authorities by name alone`() throws {
        // A leaf of the root's own, which signs another one as if it were an issuer.
        let key = try ES256.PrivateKey.generate()
        var draft = CertificateDraft(key: key.publicKey.spki)
        draft.issuer = CertificateAuthority.name
        let between = try Certificate(der: draft.signed(by: authority.key))
        var last = CertificateDraft(key: try ES256.PrivateKey.generate().publicKey.spki)
        last.issuer = draft.subject
        let leaf = try Certificate(der: last.signed(by: key))
        #expect(try !known.meet(between, of: leaf, roots: roots(authority), at: now))
    }

    @Test func `known issuers of elliptic-curve keys are read earlier, with the same result`()
        throws
    {
        let leaf = try Certificate(ofCurve: leaf(authority).der)
        let issuer = try Certificate(ofCurve: authority.intermediate)
        #expect(try leaf.publicKey() == Certificate(der: leaf.der).publicKey())
        #expect(try !known.meet(issuer, of: leaf, roots: roots(CertificateAuthority()), at: now))
        #expect(try known.meet(issuer, of: leaf, roots: roots(authority), at: now))
        #expect(try vouches(leaf, roots(authority)))
        var changed = leaf.der
        changed[changed.count - 1] ^= 1
        #expect(try !vouches(Certificate(ofCurve: changed), roots(authority)))
        #expect(throws: (any Error).self) { try Certificate(ofCurve: leaf.der + [0]) }
        #expect(throws: (any Error).self) { try Certificate(ofCurve: []) }
    }

    @Test func `known issuers are bounded in number and learned anew beyond it`() throws {
        try remember(authority)
        for _ in 0..<2 { try remember(CertificateAuthority()) }
        #expect(try !vouches(leaf(authority), roots(authority)))
        try remember(authority)
        #expect(try vouches(leaf(authority), roots(authority)))
    }
}
