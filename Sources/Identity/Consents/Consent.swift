public import EventSourcing

/// What a person lets a client know and do.
public struct Consent: StreamState {
    /// Nil without a consent, or after its withdrawal.
    public private(set) var given: GivenConsent?

    public init() {}

    public mutating func apply(_ event: ConsentEvent) {
        switch event {
        case .given(let consent): given = consent
        case .withdrawn: given = nil
        }
    }

    public func covers(_ asked: Agreement) -> Bool { given?.agreed.covers(asked) ?? false }
}
