public import EventSourcing
public import Values

/// Cancels the deletion of an account that its person asked for, by the link that was mailed then.
/// A deletion that an administrator decided is not undone by it, and ended sessions stay ended.
public struct KeepAccount: TimedCommand {
    public var account: UUID
    /// The mail that the link was in.
    public var link: UUID
    public var now: Timestamp

    public init(account: UUID, link: UUID, now: Timestamp) {
        self.account = account
        self.link = link
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Nothing is to be deleted by what the mail told of, or no more.
        case linkOver
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Account> {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: InRealm<Account>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive, facts.thing.state.canBeKept(by: link, at: now) else {
            throw .linkOver
        }
        return Decision(AccountEvent.deletionCancelled, in: account)
    }
}
