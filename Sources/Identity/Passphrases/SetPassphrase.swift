public import EventSourcing
public import Values

/// Gives an account a passphrase, or another one, if its person signed in a short while ago. Its
/// owner is told by mail, unless the server itself sets it for a demo.
public struct SetPassphrase: TimedCommand {
    public var account: UUID
    /// What takes its place in the log.
    public var hash: String
    public var session: SignedIn
    public var mail: UUID?
    public var now: Timestamp

    public init(account: UUID, hash: String, session: SignedIn, mail: UUID?, now: Timestamp) {
        self.account = account
        self.hash = hash
        self.session = session
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = PassphraseRejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnPassphrase {
        try await .read(account, app: session.app, from: streams)
    }

    public func decide(_ facts: OwnPassphrase) throws(Rejection) -> Decision {
        try facts.requireWelcome()
        guard facts.settings.offers(.passphrase) else { throw .notOffered }
        if let limit = session.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        var decision = Decision()
        decision.changePassphrase(
            .set(hash: hash, account: account, mail: mail, at: now),
            in: facts.passphrase.stream, of: account)
        return decision
    }
}
