public import EventSourcing
public import Values

/// Lets an account's person sign in again. Sessions that ended stay ended.
public struct EnableAccount: Command {
    public var account: UUID

    public init(account: UUID) {
        self.account = account
    }

    public typealias Rejection = NotFound<Account>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Account> {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: InRealm<Account>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        guard facts.thing.state.isDisabled else { return Decision() }
        return Decision(AccountEvent.enabled, in: account)
    }
}
