public import EventSourcing
public import Values

/// Records that a deleted account's personal data cannot be read any more.
///
/// The adapter destroys the keys first: what the log says must be true.
public struct RecordErasure: Command {
    public var account: UUID

    public init(account: UUID) {
        self.account = account
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notDeleted
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Account> {
        try await streams.read(Account.self, account)
    }

    public func decide(_ facts: Versioned<Account>) throws(Rejection) -> Decision {
        guard facts.state.isDeleted else { throw .notDeleted }
        guard !facts.state.isErased else { return Decision() }
        return Decision(AccountEvent.erased, in: account)
    }
}
