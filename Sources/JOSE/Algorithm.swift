/// The signature algorithms that tokens of others may carry (RFC 7518, RFC 8037, RFC 9864).
///
/// Public-key algorithms only: `none` and the HMAC family have no case, so that no key can ever be
/// asked to check them.
public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    case es256 = "ES256"
    case es384 = "ES384"
    case rs256 = "RS256"
    case ps256 = "PS256"
    /// The older name, which leaves the curve open; here it is Ed25519 always.
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"
}

/// What Urd signs with.
public enum SigningAlgorithm: String, Sendable, Hashable, CaseIterable {
    case es256 = "ES256"
    case rs256 = "RS256"

    public var verification: Algorithm {
        switch self {
        case .es256: .es256
        case .rs256: .rs256
        }
    }
}
