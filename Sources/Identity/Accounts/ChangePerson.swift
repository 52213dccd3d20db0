public import EventSourcing
internal import JSON
public import Values

/// Changes what an account knows of its person. With another mail address or phone number, or without one
/// of two, all its sessions end: they may belong to the holder of the old one.
public struct ChangePerson: Command {
    public var account: UUID
    public var person: Person
    /// The streams of the person's mail address and phone number.
    public var addresses: Addresses
    /// Whether the caller vouches for a new address; otherwise its person has to prove it.
    public var isConfirmed: Bool
    public var next: NextSubjects
    /// The name of the mail that notifies the old address.
    public var mail: UUID?

    public init(
        account: UUID, person: Person, addresses: Addresses, isConfirmed: Bool,
        next: NextSubjects, mail: UUID? = nil
    ) {
        self.mail = mail
        self.account = account
        self.person = person
        self.addresses = addresses
        self.isConfirmed = isConfirmed
        self.next = next
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case mailboxTaken
        case invalid(FieldFault)
    }

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

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let (thing, change) = (facts.inRealm.thing, facts.change)
        guard thing.isAlive else { throw .notFound }
        do throws(FieldFault) {
            try person.check()
            try person.checkHeld(addresses)
            let isProved = change.taken.isEmpty && thing.state.isConfirmed
            if addresses.phone != nil || thing.state.phone != nil, !isConfirmed, !isProved {
                throw Addresses.unproved
            }
        } catch {
            throw .invalid(error)
        }
        var decision = Decision(AccountEvent.personChanged(person), in: account)
        guard !change.isNone else { return decision }
        guard !change.isTaken else { throw .mailboxTaken }
        decision.append(
            change.decide(for: thing, isConfirmed: isConfirmed, next: next, mail: mail))
        return decision
    }
}
