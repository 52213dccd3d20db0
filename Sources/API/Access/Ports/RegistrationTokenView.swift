public import Identity
public import Values

/// A registration token as lists show it: without its text, which is kept nowhere.
public struct RegistrationTokenView: Sendable, Equatable {
    public var id: UUID
    public var terms: RegistrationTerms
    public var used: Int
    public var createdAt: Timestamp

    public init(id: UUID, terms: RegistrationTerms, used: Int, createdAt: Timestamp) {
        self.id = id
        self.terms = terms
        self.used = used
        self.createdAt = createdAt
    }
}
