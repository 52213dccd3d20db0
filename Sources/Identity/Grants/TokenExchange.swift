internal import EventSourcing
public import Values

/// What became of a token that a client exchanged for another (RFC 8693).
public struct TokenExchange: Sendable, Equatable {
    /// The session of the token that was shown: with it this one ends.
    public var origin: UUID
    /// Who acts for the person, the latest first: what tokens say.
    public var actors: [String]
    /// Who acts as the person, where tokens do not say it.
    public var impersonator: String?

    public init(origin: UUID, actors: [String], impersonator: String? = nil) {
        self.origin = origin
        self.actors = actors
        self.impersonator = impersonator
    }

    /// A chain of more actors can't be reviewed by people.
    static let mostActors = 5
}

extension Field<TokenExchange> {
    static let exchange = record(
        .uuid("exchanged", "Session of the token that was exchanged (RFC 8693)."),
        .texts("actors", "Clients that act for the person, the latest first."),
        .optional(.text("impersonator", "Client that acts as the person.")),
        make: { TokenExchange(origin: $0, actors: $1, impersonator: $2) },
        take: { ($0.origin, $0.actors, $0.impersonator) })
}

/// An access token of this realm that was shown to be exchanged, and is good.
public struct ShownToken: Sendable, Equatable {
    public var session: UUID
    public var scope: [String]
    public var audience: [String]
    public var expiresAt: Timestamp
    /// The thumbprint of the key that it is bound to.
    public var key: String?

    public init(
        session: UUID, scope: [String], audience: [String], expiresAt: Timestamp,
        key: String? = nil
    ) {
        self.key = key
        self.session = session
        self.scope = scope
        self.audience = audience
        self.expiresAt = expiresAt
    }
}
