public import EventSourcing
public import Values

/// Moves a realm's owner to the mailbox from which they opened a link. They showed the passphrase when
/// they asked for it: their apps stay signed in.
public struct ConfirmOwnerMove: TimedCommand {
    public var mailbox: UUID
    public var code: UUID
    public var shown: ShownSecret
    /// With the new address.
    public var person: Person
    /// Whose will be what is mailed to the old mailbox from then on.
    public var nextSubject: UUID
    /// The name of the mail that notifies the old address.
    public var mail: UUID
    public var now: Timestamp

    public init(
        to mailbox: UUID, code: UUID, shown: ShownSecret, person: Person, nextSubject: UUID,
        mail: UUID, now: Timestamp
    ) {
        self.mailbox = mailbox
        self.code = code
        self.shown = shown
        self.person = person
        self.nextSubject = nextSubject
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The link was used, expired or was cancelled by the owner; or another account has the
        /// address now.
        case linkOver
        case invalid(FieldFault)
    }

    public struct Facts: RealmFacts {
        let owner: InRealm<Owner>
        let account: Versioned<Account>?
        let mailbox: Versioned<Mailbox>
        let left: Versioned<Mailbox>?

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let owner: InRealm<Owner> = try await .read(Owner.stream, from: streams)
        var account: Versioned<Account>?
        var left: Versioned<Mailbox>?
        if let id = owner.thing.state.account {
            let found = try await streams.read(Account.self, id)
            account = found
            if let held = found.state.mailbox, held != mailbox {
                left = try await streams.read(Mailbox.self, held)
            }
        }
        return Facts(
            owner: owner, account: account,
            mailbox: try await streams.read(Mailbox.self, mailbox), left: left)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let (realm, mailbox) = (facts.owner.realm, facts.mailbox)
        do {
            try person.check(for: .mail)
        } catch {
            throw .invalid(error)
        }
        let attempts = realm.state.settings[SettingCatalogue.otpAttempts]
        guard let account = facts.account, account.isWelcome, let left = facts.left,
            let move = facts.owner.thing.state.pendingMove(of: account.state),
            move.mailbox == mailbox.stream, move.code == code,
            let live = mailbox.state.liveMove(of: account, at: now, attempts: attempts),
            live.id == code, shown.matches(live.digest), mailbox.state.account == nil
        else { throw .linkOver }
        var decision = Decision(
            MailboxEvent.codeRedeemed(live.id), in: mailbox.stream, of: mailbox.subject)
        decision.append(AccountEvent.personChanged(person), in: account.stream)
        decision.append(
            AccountEvent.mailboxMoved(
                mailbox: mailbox.stream, left: left.subject, mail: account.mail(mail)),
            in: account.stream)
        decision.append(MailboxEvent.released(account.stream, next: nextSubject), in: left.stream)
        decision.append(MailboxEvent.assigned(account.stream), in: mailbox.stream)
        decision.append(OwnerEvent.moveEnded(code: code), in: Owner.stream)
        return decision
    }
}
