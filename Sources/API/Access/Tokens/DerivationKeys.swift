internal import Identity

/// The keys that a realm's secrets and names are derived from.
public enum DerivationKey: Sendable, Equatable {
    /// The key for names, which is never replaced.
    case name
    /// A version of the derive key; 0 is the one in use.
    case version(Int)
}

extension TokenMint {
    /// A keyed digest: of the key for names where it must stay, else of this version of the derive key.
    func derive(_ purpose: DerivedPurpose, _ bytes: [UInt8]) -> [UInt8] {
        derivation(purpose.kind == .name ? .name : .version(versionNumber), purpose.rawValue, bytes)
    }

    /// The mint as of the version of the derive key that this is true of, the one in use first. Nil
    /// where it is true of none, as for a forged value or one of a retired version.
    func version(where isRight: (TokenMint) -> Bool) -> TokenMint? {
        var mint = self
        for number in 0..<versions {
            mint.versionNumber = number
            if isRight(mint) { return mint }
        }
        return nil
    }

    /// What the log may have kept of something shown: under which version it was kept is not known.
    func shown(_ digest: (TokenMint) -> SecretDigest?) -> ShownSecret {
        var mint = self
        var digests: [SecretDigest] = []
        for number in 0..<versions {
            mint.versionNumber = number
            if let digest = digest(mint) { digests.append(digest) }
        }
        return ShownSecret(digests)
    }
}
