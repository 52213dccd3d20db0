public import Identity
public import Values

/// What a person lets a client know and do.
public struct ConsentView: Sendable, Equatable {
    public var id: UUID
    public var given: GivenConsent

    public init(id: UUID, given: GivenConsent) {
        self.id = id
        self.given = given
    }
}
