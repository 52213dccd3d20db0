internal import EventSourcing
public import Values

/// A client's signed assertion that was found to be good, and may be used once (RFC 7523 section 3,
/// OpenID Connect Core section 9).
public struct UsedAssertion: Equatable, Sendable {
    /// Its `jti`.
    public let id: String
    /// The expiry time: afterwards the assertion is refused anyway.
    public let until: Timestamp

    public init(id: String, until: Timestamp) {
        self.id = id
        self.until = until
    }

    static let claimKind = "client_assertion"

    /// The client's name has no space in it: the two cannot run into each other.
    func claim(by clientID: String) -> Claim {
        Claim(Self.claimKind, "\(clientID) \(id)", until: until)
    }
}
