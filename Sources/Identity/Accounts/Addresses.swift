internal import EventSourcing
public import Values

/// The mailboxes of an account: of its mail address, of its phone number, or of both.
public struct Addresses: Sendable, Equatable {
    /// Of the mail address, or of the phone number where there is no mail address.
    public var mailbox: UUID
    /// Of the phone number beside a mail address.
    public var phone: UUID?

    public init(mailbox: UUID, phone: UUID? = nil) {
        self.mailbox = mailbox
        self.phone = phone
    }

    /// By either of two addresses its person signs in, so that both are proved, or vouched for.
    static let unproved = FieldFault("confirmed", .needed(by: "phone"))

    var all: [UUID] { [mailbox] + (phone.map { [$0] } ?? []) }
}

/// Whose will be what is sent from then on to mailboxes that an account gives up. Each has a subject of its
/// own: the key of one that comes to another account may go with that account.
public struct NextSubjects: Sendable, Equatable {
    public var mailbox: UUID
    public var phone: UUID

    public init(mailbox: UUID, phone: UUID) {
        self.mailbox = mailbox
        self.phone = phone
    }
}

/// The mailboxes that an account holds, and those that it is to hold.
struct AddressChange: Sendable {
    let wanted: Addresses
    /// The mailboxes that the account gives up, and those that it takes.
    let left: [Versioned<Mailbox>]
    let taken: [Versioned<Mailbox>]

    init(
        of account: Versioned<Account>, to wanted: Addresses, from streams: some StreamReader
    ) async throws(LogFailure) {
        self.wanted = wanted
        let held = account.state.addresses?.all ?? []
        var (left, taken): ([Versioned<Mailbox>], [Versioned<Mailbox>]) = ([], [])
        for mailbox in held where !wanted.all.contains(mailbox) {
            left.append(try await streams.read(Mailbox.self, mailbox))
        }
        for mailbox in wanted.all where !held.contains(mailbox) {
            taken.append(try await streams.read(Mailbox.self, mailbox))
        }
        (self.left, self.taken) = (left, taken)
    }

    var isNone: Bool { left.isEmpty && taken.isEmpty }

    /// Another account holds one of those that it is to take.
    var isTaken: Bool { taken.contains { $0.state.account != nil } }

    /// What the change comes to. All sessions end where an address is given up: they may belong to its
    /// holder.
    func decide(
        for account: Versioned<Account>, isConfirmed: Bool, next: NextSubjects, mail: UUID?
    ) -> Decision {
        var decision = Decision()
        if wanted.phone == nil, account.state.phone == nil, let left = left.first {
            decision.append(
                AccountEvent.mailboxChanged(
                    mailbox: wanted.mailbox, isConfirmed: isConfirmed, left: left.subject,
                    mail: account.mail(mail)), in: account.stream)
        } else {
            decision.append(
                AccountEvent.addressesChanged(
                    wanted, left: left.map(\.subject), mail: account.mail(mail)),
                in: account.stream)
            if !left.isEmpty { decision.append(AccountEvent.stampRotated(), in: account.stream) }
        }
        for mailbox in left {
            decision.append(
                MailboxEvent.released(account.stream, next: next.of(mailbox, account)),
                in: mailbox.stream)
        }
        for mailbox in taken {
            decision.append(MailboxEvent.assigned(account.stream), in: mailbox.stream)
        }
        return decision
    }
}

extension NextSubjects {
    func of(_ mailbox: Versioned<Mailbox>, _ account: Versioned<Account>) -> UUID {
        mailbox.stream == account.state.phone ? phone : self.mailbox
    }
}

extension Account {
    /// Nil before the registration.
    public var addresses: Addresses? { mailbox.map { Addresses(mailbox: $0, phone: phone) } }
}

extension Person {
    /// An account holds a mailbox for each address that is known of its person, and no other: an address without one
    /// could be another account's.
    func checkHeld(_ addresses: Addresses) throws(FieldFault) {
        guard hasBoth == (addresses.phone != nil) else { throw FieldFault("phone", .unsupported) }
    }
}
