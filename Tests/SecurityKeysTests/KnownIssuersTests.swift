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

    private func remember(_ authority: CertificateAuthority) throws {
        known.remember(
            try Certificate(der: authority.intermediate), roots: try roots(authority))
    }

    private func vouches(
        _ leaf: Certificate, _ roots: [Certificate], at time: Int64? = nil
    ) -> Bool {
        known.vouch(
            for: leaf, issuer: authority.intermediate, roots: roots, at: time ?? now)
    }

    @Test func `vouch for what they issued, and say nothing before`() throws {
        let leaf = try leaf(authority)
        #expect(try !vouches(leaf, roots(authority)))
        try remember(authority)
        #expect(try vouches(leaf, roots(authority)))
    }

    @Test func `vouch for nothing of others, changed, out of date or below another root`() throws {
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

    @Test func `are those whose signature was looked at, byte for byte`() throws {
        try remember(authority)
        let other = try CertificateAuthority.intermediate(
            of: authority.intermediateKey, by: CertificateAuthority().key)
        #expect(
            try !known.vouch(
                for: leaf(authority), issuer: other, roots: roots(authority), at: now))
    }

    @Test func `are not remembered below a root that did not issue them`() throws {
        known.remember(
            try Certificate(der: authority.intermediate), roots: try roots(CertificateAuthority()))
        #expect(try !vouches(leaf(authority), roots(authority)))
    }

    @Test func `are a few, and learned anew where there were too many`() throws {
        try remember(authority)
        for _ in 0..<2 { try remember(CertificateAuthority()) }
        #expect(try !vouches(leaf(authority), roots(authority)))
        try remember(authority)
        #expect(try vouches(leaf(authority), roots(authority)))
    }
}
