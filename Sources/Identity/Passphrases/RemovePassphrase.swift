public import EventSourcing
public import Values

/// Disables sign-in to an account by its passphrase. Its owner is told by mail.
public struct RemovePassphrase: TimedCommand {
    public var account: UUID
    public var session: SignedIn
    public var mail: UUID
    public var now: Timestamp

    public init(account: UUID, session: SignedIn, mail: UUID, now: Timestamp) {
        self.account = account
        self.session = session
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = PassphraseRejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnPassphrase {
        try await .read(account, app: session.app, from: streams)
    }

    /// Also where passphrases are off: what is gone can't come back with them.
    public func decide(_ facts: OwnPassphrase) throws(Rejection) -> Decision {
        try facts.requireWelcome()
        guard facts.passphrase.state.hash != nil else { throw .notSet }
        if let limit = session.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        var decision = Decision()
        decision.changePassphrase(
            .removed(account: account, mail: mail), in: facts.passphrase.stream, of: account)
        return decision
    }
}
