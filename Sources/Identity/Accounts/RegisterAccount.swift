public import EventSourcing
public import Values

/// Makes an account for a person, on an administrator's word.
public struct RegisterAccount: Command {
    public var account: UUID
    /// The stream of the mail address: see `Mailbox`.
    public var mailbox: UUID
    public var person: Person
    /// Whether the administrator answers for the mailbox; otherwise its person has to prove it.
    public var isConfirmed: Bool

    public init(account: UUID, mailbox: UUID, person: Person, isConfirmed: Bool) {
        self.account = account
        self.mailbox = mailbox
        self.person = person
        self.isConfirmed = isConfirmed
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case mailboxTaken
        case invalid(FieldFault)
    }

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Account>
        let mailbox: Versioned<Mailbox>

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            inRealm: try await .read(account, from: streams),
            mailbox: try await streams.read(Mailbox.self, mailbox))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard !facts.inRealm.thing.exists else { throw .idTaken }
        do {
            try person.checkNew()
        } catch {
            throw .invalid(error)
        }
        guard facts.mailbox.state.account == nil else { throw .mailboxTaken }
        return Decision.registering(
            account, in: mailbox, isConfirmed: isConfirmed, origin: .administrator,
            person: person)
    }
}

extension Decision {
    /// A new account that holds its mailbox.
    static func registering(
        _ account: UUID, in mailbox: UUID, isConfirmed: Bool, origin: AccountOrigin,
        person: Person
    ) -> Decision {
        var decision = Decision(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: isConfirmed, origin: origin, person: person),
            in: account)
        decision.append(MailboxEvent.assigned(account), in: mailbox)
        return decision
    }
}
