internal import EventSourcing
public import Values

/// A client's proof that it holds a key, which was found to be good and may be used once (RFC 9449).
public struct UsedProof: Equatable, Sendable {
    /// The key's thumbprint.
    public let key: String
    /// Its `jti`.
    public let id: String
    /// The expiry time: afterwards the proof is refused anyway.
    public let until: Timestamp

    public init(key: String, id: String, until: Timestamp) {
        self.key = key
        self.id = id
        self.until = until
    }

    static let claimKind = "dpop_proof"

    /// A thumbprint has no space in it: the two cannot run into each other.
    var claim: Claim { Claim(Self.claimKind, "\(key) \(id)", until: until) }
}
