public import EventSourcing
public import Values

/// Gives a person another PIN who types a code that was sent to their address for this, whether or not the old one
/// is locked. The code is used up; a wrong one is a guess like any other. A code to sign in with resets no PIN.
public struct ResetPIN: AnsweringCommand, TimedCommand {
    public var owner: MethodOwner
    /// The stream of the person's address.
    public var mailbox: UUID
    public var shown: ShownSecret
    /// What takes the PIN's place in the log. Nil: the code is only looked at.
    public var hash: String?
    public var app: UUID?
    /// The mail that tells the person of it.
    public var mail: UUID
    public var now: Timestamp

    public init(
        owner: MethodOwner, mailbox: UUID, shown: ShownSecret, hash: String?, app: UUID?,
        mail: UUID, now: Timestamp
    ) {
        self.owner = owner
        self.mailbox = mailbox
        self.shown = shown
        self.hash = hash
        self.app = app
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notWelcome
        /// No code was sent, or it is expired or used.
        case noCode
    }

    public enum Outcome: Equatable, Sendable {
        case done
        case wrongCode
    }

    public struct Facts: RealmFacts {
        public var realm: Versioned<Realm> { own.realm }
        let own: OwnMethods
        let mailbox: Versioned<Mailbox>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            own: try await .read(owner, app: app, from: streams),
            mailbox: try await streams.read(Mailbox.self, mailbox))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let (own, mailbox) = (facts.own, facts.mailbox)
        guard own.isWelcome, mailbox.state.account == owner.account else { throw .notWelcome }
        let live = mailbox.state.livePINResets(
            at: now, attempts: own.settings[SettingCatalogue.otpAttempts],
            generation: own.account.state.proofGeneration)
        guard let newest = live.first else { throw .noCode }
        guard let code = live.first(where: { shown.matches($0.digest) }) else {
            return SettledDecision(
                Decision(
                    MailboxEvent.codeRefused(newest.id, at: now), in: mailbox.stream,
                    of: mailbox.subject), .wrongCode)
        }
        guard let hash else { return SettledDecision(Decision(), .done) }
        var decision = Decision(
            MailboxEvent.codeRedeemed(code.id), in: mailbox.stream, of: mailbox.subject)
        decision.append(
            TenantMethodEvent.pinSet(
                hash: hash, account: owner.account, client: owner.client, at: now,
                mail: own.account.mail(mail)),
            in: owner.stream)
        return SettledDecision(decision, .done)
    }
}
