public import EventSourcing
public import Values

/// Removes an account's second factor on an administrator's word, for a person who has lost the app
/// and the recovery codes. An enrolment that waits for its confirmation is removed as well.
public struct ResetTwoFactor: Command {
    public var account: UUID
    /// The name of the mail that tells its person.
    public var mail: UUID

    public init(account: UUID, mail: UUID) {
        self.account = account
        self.mail = mail
    }

    public typealias Rejection = NotFound<Account>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnTwoFactor {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: OwnTwoFactor) throws(Rejection) -> Decision {
        guard facts.account.isAlive else { throw .notFound }
        let state = facts.factor.state
        guard state.enrolled != nil || state.offer != nil else { return Decision() }
        return Decision(
            TwoFactorEvent.removed(account: account, mail: mail), in: facts.stream)
    }
}
