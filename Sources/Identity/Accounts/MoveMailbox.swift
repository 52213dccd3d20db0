public import EventSourcing
public import Values

/// Moves an account to the mailbox that its person proved just now. All its sessions end: they may
/// belong to the holder of the old one.
public struct MoveMailbox: AnsweringCommand, TimedCommand {
    public var account: UUID
    /// The stream of the new address.
    public var mailbox: UUID
    /// Of the code that was typed, together with the account.
    public var shown: ShownSecret
    /// With the new address.
    public var person: Person
    /// Whose will be what is mailed to the old mailbox from then on.
    public var nextSubject: UUID
    /// The name of the mail that notifies the old address.
    public var mail: UUID?
    public var now: Timestamp

    public init(
        account: UUID, mailbox: UUID, shown: ShownSecret, person: Person, nextSubject: UUID,
        mail: UUID? = nil, now: Timestamp
    ) {
        self.mail = mail
        self.account = account
        self.mailbox = mailbox
        self.shown = shown
        self.person = person
        self.nextSubject = nextSubject
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case accountBlocked
        case invalid(FieldFault)
    }

    /// False where the code is not good, which is put on record.
    public typealias Outcome = Bool

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Account>
        let mailbox: Versioned<Mailbox>
        let left: Versioned<Mailbox>?

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm = try await InRealm<Account>.read(account, from: streams)
        var left: Versioned<Mailbox>?
        if let held = inRealm.thing.state.mailbox, held != mailbox {
            left = try await streams.read(Mailbox.self, held)
        }
        return Facts(
            inRealm: inRealm, mailbox: try await streams.read(Mailbox.self, mailbox), left: left)
    }

    public func settle(_ facts: Facts) throws(Rejection) -> Settled<Outcome> {
        guard facts.inRealm.thing.isWelcome else { throw .accountBlocked }
        do {
            try person.check(for: .mail)
        } catch {
            throw .invalid(error)
        }
        let mailbox = facts.mailbox
        let attempts = facts.inRealm.realm.state.settings[SettingCatalogue.otpAttempts]
        guard
            let code = mailbox.state.liveMove(
                of: facts.inRealm.thing, at: now, attempts: attempts),
            mailbox.state.account == nil, let left = facts.left
        else { return Settled(false) }
        guard shown.matches(code.digest) else {
            return Settled(
                Decision(
                    MailboxEvent.codeRefused(code.id, at: now), in: mailbox.stream,
                    of: mailbox.subject), false)
        }
        var decision = Decision(
            MailboxEvent.codeRedeemed(code.id), in: mailbox.stream, of: mailbox.subject)
        decision.append(AccountEvent.personChanged(person), in: account)
        decision.append(
            AccountEvent.mailboxChanged(
                mailbox: mailbox.stream, isConfirmed: true, left: left.subject,
                mail: facts.inRealm.thing.mail(mail)), in: account)
        decision.append(MailboxEvent.released(account, next: nextSubject), in: left.stream)
        decision.append(MailboxEvent.assigned(account), in: mailbox.stream)
        return Settled(decision, true)
    }
}
