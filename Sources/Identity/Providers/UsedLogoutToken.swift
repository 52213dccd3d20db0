internal import EventSourcing
public import Values

/// A verified logout token of a provider, which is single-use (OpenID Connect Back-Channel Logout
/// 1.0 section 2.6): otherwise a person who saw it could replay it to log people out again and
/// again.
public struct UsedLogoutToken: Equatable, Sendable {
    public let issuer: String
    /// Its `jti`.
    public let id: String
    /// The expiry time: afterwards the token is refused anyway.
    public let until: Timestamp

    public init(issuer: String, id: String, until: Timestamp) {
        self.issuer = issuer
        self.id = id
        self.until = until
    }

    static let claimKind = "logout_token"

    /// The issuer's length in front keeps two that run into each other apart.
    var claim: Claim {
        Claim(Self.claimKind, "\(issuer.utf8.count) \(issuer) \(id)", until: until)
    }
}
