public import EventSourcing
internal import JSON
public import Values

/// Changes what an account knows of its person. With another mail address it moves to another
/// mailbox, and all its sessions end: they may belong to the holder of the old one.
public struct ChangePerson: Command {
    public var account: UUID
    public var person: Person
    /// The stream of the person's mail address.
    public var mailbox: UUID
    /// Whether the caller vouches for a new mailbox; otherwise its person has to prove it.
    public var isConfirmed: Bool
    /// Whose will be what is mailed to the old mailbox from then on.
    public var nextSubject: UUID
    /// The name of the mail that notifies the old address.
    public var mail: UUID?

    public init(
        account: UUID, person: Person, mailbox: UUID, isConfirmed: Bool, nextSubject: UUID,
        mail: UUID? = nil
    ) {
        self.mail = mail
        self.account = account
        self.person = person
        self.mailbox = mailbox
        self.isConfirmed = isConfirmed
        self.nextSubject = nextSubject
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case mailboxTaken
        case invalid(FieldFault)
    }

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

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.inRealm.thing.isAlive else { throw .notFound }
        do {
            try person.check()
        } catch {
            throw .invalid(error)
        }
        var decision = Decision(AccountEvent.personChanged(person), in: account)
        guard let left = facts.left else { return decision }
        guard facts.mailbox.state.account == nil else { throw .mailboxTaken }
        decision.append(
            AccountEvent.mailboxChanged(
                mailbox: mailbox, isConfirmed: isConfirmed, left: left.subject,
                mail: facts.inRealm.thing.mail(mail)), in: account)
        decision.append(MailboxEvent.released(account, next: nextSubject), in: left.stream)
        decision.append(MailboxEvent.assigned(account), in: mailbox)
        return decision
    }
}
