internal import Cryptography
internal import Values

/// Whether to believe the chain of an attestation.
struct Trust {
    let format: AttestationFormat
    let policy: AttestationPolicy
    let time: Timestamp

    /// True when the chain ends at a root of the policy. Refuses a chain that is broken in itself,
    /// under any policy.
    func check(_ certificates: [Certificate]) throws(WebAuthnFailure) -> Bool {
        // A root in its own chain vouches for no certificate. Only Android's key store sends it along.
        let sent = certificates.count
        let isRootSent = sent > 1 && certificates[sent - 1].isSelfSigned
        guard !isRootSent || format == .androidKey else { throw .chain(.containsRoot) }
        do throws(CertificateChain.Flaw) {
            let chain = try CertificateChain(certificates)
            try chain.check(at: time.seconds)
            guard let roots = policy.roots[format], !roots.isEmpty else { throw .untrusted }
            try chain.checkTrust(roots: roots, at: time.seconds)
            return true
        } catch {
            if error == .untrusted, policy.acceptsUntrusted { return false }
            throw .chain(WebAuthnFailure.ChainFlaw(error))
        }
    }
}

extension WebAuthnFailure.ChainFlaw {
    init(_ flaw: CertificateChain.Flaw) {
        switch flaw {
        case .empty, .broken: self = .broken
        case .tooLong: self = .tooLong
        case .outOfDate: self = .outOfDate
        case .notAnAuthority: self = .notAnAuthority
        case .untrusted: self = .untrusted
        }
    }
}
