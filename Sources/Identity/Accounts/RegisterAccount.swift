public import EventSourcing
public import Values

/// Makes an account for a person, on an administrator's word.
public struct RegisterAccount: Command {
    public var account: UUID
    /// The streams of what it is found by: see `Mailbox`.
    public var addresses: Addresses
    public var person: Person
    /// Whether the administrator answers for the addresses; otherwise its person has to prove the only one.
    public var isConfirmed: Bool

    public init(account: UUID, addresses: Addresses, person: Person, isConfirmed: Bool) {
        self.account = account
        self.addresses = addresses
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
        guard !facts.inRealm.thing.exists else { throw .idTaken }
        do throws(FieldFault) {
            try person.checkNew()
            try person.checkHeld(addresses)
            if addresses.phone != nil, !isConfirmed { throw Addresses.unproved }
        } catch {
            throw .invalid(error)
        }
        guard !facts.change.isTaken else { throw .mailboxTaken }
        var decision = Decision.registering(
            account, in: addresses.mailbox, isConfirmed: isConfirmed, origin: .administrator,
            person: person)
        if let phone = addresses.phone {
            decision.append(AccountEvent.addressesChanged(addresses, left: []), in: account)
            decision.append(MailboxEvent.assigned(account), in: phone)
        }
        return decision
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
