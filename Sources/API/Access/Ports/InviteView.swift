public import Identity
public import Values

/// An invite as lists show it: without its code, which is kept nowhere.
public struct InviteView: Sendable, Equatable {
    public var id: UUID
    public var terms: InviteTerms
    public var createdAt: Timestamp
    public var usedAt: Timestamp?

    public init(id: UUID, terms: InviteTerms, createdAt: Timestamp, usedAt: Timestamp? = nil) {
        self.id = id
        self.terms = terms
        self.createdAt = createdAt
        self.usedAt = usedAt
    }
}
