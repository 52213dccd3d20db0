public import EventSourcing
public import Values

/// Ends every session of an account at once, on every node: log out everywhere.
public struct RotateSecurityStamp: Command {
    public var account: UUID
    /// The name of the mail that tells its person.
    public var mail: UUID?

    public init(account: UUID, mail: UUID? = nil) {
        self.account = account
        self.mail = mail
    }

    public typealias Rejection = NotFound<Account>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Account> {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: InRealm<Account>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        return Decision(AccountEvent.stampRotated(mail: facts.thing.mail(mail)), in: account)
    }
}
