public import EventSourcing
public import Values

/// Gives an account the address that its person proved just now, beside those that it has or in the place
/// of one. Where one is given up, all its sessions end: they may belong to its holder.
public struct MoveMailbox: AnsweringCommand, TimedCommand {
    public var account: UUID
    /// The addresses afterwards. Only the new mailbox is not held by the account yet.
    public var addresses: Addresses
    /// Of the code that was typed, together with the account.
    public var shown: ShownSecret
    /// With the new address.
    public var person: Person
    public var next: NextSubjects
    /// The name of the mail that notifies the old address.
    public var mail: UUID?
    public var now: Timestamp

    public init(
        account: UUID, addresses: Addresses, shown: ShownSecret, person: Person,
        next: NextSubjects, mail: UUID? = nil, now: Timestamp
    ) {
        self.mail = mail
        self.account = account
        self.addresses = addresses
        self.shown = shown
        self.person = person
        self.next = next
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
        let change: AddressChange

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm = try await InRealm<Account>.read(account, from: streams)
        return Facts(
            inRealm: inRealm,
            change: try await AddressChange(of: inRealm.thing, to: addresses, from: streams))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let (thing, change) = (facts.inRealm.thing, facts.change)
        guard thing.isWelcome else { throw .accountBlocked }
        do {
            try person.check()
            try person.checkHeld(addresses)
        } catch {
            throw .invalid(error)
        }
        let attempts = facts.inRealm.realm.state.settings[SettingCatalogue.otpAttempts]
        // Another change may have come first.
        let isProved = addresses.phone == nil && thing.state.phone == nil || thing.state.isConfirmed
        guard change.taken.count == 1, let mailbox = change.taken.first, isProved,
            let code = mailbox.state.liveMove(of: thing, at: now, attempts: attempts),
            !change.isTaken
        else { return SettledDecision(false) }
        guard shown.matches(code.digest) else {
            return SettledDecision(
                Decision(
                    MailboxEvent.codeRefused(code.id, at: now), in: mailbox.stream,
                    of: mailbox.subject), false)
        }
        var decision = Decision(
            MailboxEvent.codeRedeemed(code.id), in: mailbox.stream, of: mailbox.subject)
        decision.append(AccountEvent.personChanged(person), in: account)
        decision.append(change.decide(for: thing, isConfirmed: true, next: next, mail: mail))
        return SettledDecision(decision, true)
    }
}
