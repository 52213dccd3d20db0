public import EventSourcing
public import Values

/// A token by which clients register themselves (RFC 7591 section 3: an initial access token). Its text
/// follows from its name under the realm's key: it stands nowhere.
public struct RegistrationToken: StreamState {
    /// Nil before the token was created.
    public private(set) var terms: RegistrationTerms?
    /// How many clients came by it.
    public private(set) var used = 0
    public private(set) var isRevoked = false

    public init() {}

    public mutating func apply(_ event: RegistrationTokenEvent) {
        switch event {
        case .created(let terms): self.terms = terms
        case .used: used += 1
        case .revoked: isRevoked = true
        }
    }

    /// The terms, while one more client may come by it.
    func goodTerms(at now: Timestamp) -> RegistrationTerms? {
        guard let terms, !isRevoked, used < terms.uses, now < terms.expiresAt else { return nil }
        return terms
    }
}

/// What a registration token is good for.
public struct RegistrationTerms: Sendable, Equatable {
    /// The label that its creator gave to the token.
    public let label: String
    /// So many clients may come by it.
    public let uses: Int
    /// What clients may ask for that came by it, beside what everybody may.
    public let scope: [String]
    public let expiresAt: Timestamp

    public init(label: String, uses: Int, scope: [String], expiresAt: Timestamp) {
        self.label = label
        self.uses = uses
        self.scope = scope
        self.expiresAt = expiresAt
    }
}
