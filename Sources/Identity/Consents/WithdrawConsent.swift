public import EventSourcing
public import Values

/// Takes back all that a person allowed a client. What the client has is ended beside it, session by
/// session; a code that is under way opens none any more.
public struct WithdrawConsent: Command {
    /// The stream of the two.
    public var consent: UUID
    /// Only if it is this account's.
    public var account: UUID

    public init(consent: UUID, account: UUID) {
        self.consent = consent
        self.account = account
    }

    public typealias Rejection = NotFound<Consent>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Consent> {
        try await streams.read(Consent.self, consent)
    }

    public func decide(_ facts: Versioned<Consent>) throws(Rejection) -> Decision {
        guard let given = facts.state.given, given.account == account else { throw .notFound }
        return Decision(
            ConsentEvent.withdrawn(account: account, client: given.client), in: consent)
    }
}
