internal import EventSourcing
public import Values

/// A provider's word that somebody is logged out there, which was found to be good and is taken once
/// (OpenID Connect Back-Channel Logout 1.0 section 2.6): else whoever saw it would log people out with it
/// again and again.
public struct UsedLogoutToken: Equatable, Sendable {
    public let issuer: String
    /// Its `jti`.
    public let id: String
    /// Afterwards it is refused anyway.
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
