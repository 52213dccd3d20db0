public import EventSourcing
public import Values

/// What happens to a realm's owner.
public enum OwnerEvent: FormedEvent {
    /// The token by which they take the realm over follows from the name, and from no other again.
    case appointed(UUID, token: UUID, generation: Int = 0)
    /// The token is mailed to them, in a link that begins with this.
    case invited(UUID, token: UUID, base: String, mail: UUID, generation: Int = 0)
    /// The owner set their first passphrase.
    case onboarded(installation: UUID)
    /// Whether a passphrase needs a mailed code beside it.
    case mailedCodesChanged(isNeeded: Bool)
    /// An installation was let in.
    case deviceAdded(AddedDevice)
    case deviceRemoved(UUID)
    /// A link was mailed to another address, to which the owner wants to move.
    case moveRequested(PendingMove)
    /// The owner moved by it, or cancelled the move.
    case moveEnded(code: UUID)
    /// An authorized caller vouches that the owner reads the mailbox: a code of this name replaces
    /// a mailed one.
    case mailboxVouched(TimedName)
    /// A browser in which the owner typed a mailed code needs no other one for a while.
    case browserTrusted(TimedName)
    /// The owner agrees to the present terms.
    case termsSigned

    package enum Form {
        package static let appointed = EventForm(
            "owner.appointed", .audit, .ownerAppointed,
            "An account was appointed owner of the realm.", .account, .token, .generation,
            make: OwnerEvent.appointed)
        package static let invited = EventForm(
            "owner.invited", .audit, .accountChanged,
            "The owner was invited by mail to take the realm over.", .account, .token, .linkBase,
            .uuid("mail", "Mail that carries the invite."), .generation, make: OwnerEvent.invited)
        package static let onboarded = EventForm(
            "owner.onboarded", .audit, .deviceAdded, "The owner set their first passphrase.",
            .uuid("client", "Installation that the owner used."), make: OwnerEvent.onboarded)
        package static let mailedCodesChanged = EventForm(
            "owner.mailed_codes_changed", .services, .mailedCodesChanged,
            "The owner switched mailed codes on or off.",
            .flag("needed", "Whether a passphrase needs a mailed code beside it."),
            make: OwnerEvent.mailedCodesChanged)
        package static let deviceAdded = EventForm(
            "owner.device_added", .services, .deviceAdded, "The owner let an installation in.",
            .device, make: OwnerEvent.deviceAdded)
        package static let deviceRemoved = EventForm(
            "owner.device_removed", .services, .deviceRemoved, "The owner removed an installation.",
            .client, make: OwnerEvent.deviceRemoved)
        package static let moveRequested = EventForm(
            "owner.move_requested", .audit, .accountChanged,
            "The owner asked to move to another address.", .move, make: OwnerEvent.moveRequested)
        package static let moveEnded = EventForm(
            "owner.move_ended", .internal, .detail, "The owner moved, or wants to move no more.",
            .moveCode, make: OwnerEvent.moveEnded)
        package static let mailboxVouched = EventForm(
            "owner.mailbox_vouched", .internal, .step(.passed),
            "A caller vouched that the owner reads the mailbox.",
            .timed("Name of the code that replaces a mailed one."), make: OwnerEvent.mailboxVouched)
        package static let browserTrusted = EventForm(
            "owner.browser_trusted", .audit, .accountChanged,
            "A browser needs no mailed code for a while.",
            .timed("Name by which the browser is known."), make: OwnerEvent.browserTrusted)
        package static let termsSigned = EventForm(
            "owner.terms_signed", .audit, .accountChanged, "The owner agreed to the terms.",
            make: { OwnerEvent.termsSigned })
    }

    public static let forms: EventForms<Self> = [
        Form.appointed, Form.invited, Form.onboarded, Form.mailedCodesChanged, Form.deviceAdded,
        Form.deviceRemoved, Form.moveRequested, Form.moveEnded, Form.mailboxVouched,
        Form.browserTrusted, Form.termsSigned,
    ]

    public var written: WrittenEvent {
        switch self {
        case .appointed(let account, let token, let generation):
            Form.appointed(account, token, generation)
        case .invited(let account, let token, let base, let mail, let generation):
            Form.invited(account, token, base, mail, generation)
        case .onboarded(let installation): Form.onboarded(installation)
        case .mailedCodesChanged(let isNeeded): Form.mailedCodesChanged(isNeeded)
        case .deviceAdded(let device): Form.deviceAdded(device)
        case .deviceRemoved(let installation): Form.deviceRemoved(installation)
        case .moveRequested(let move): Form.moveRequested(move)
        case .moveEnded(let code): Form.moveEnded(code)
        case .mailboxVouched(let code): Form.mailboxVouched(code)
        case .browserTrusted(let code): Form.browserTrusted(code)
        case .termsSigned: Form.termsSigned()
        }
    }
}

extension Field<UUID> {
    fileprivate static let token = uuid(
        "token", "Name that the token of the invite follows from under the realm's key.")
    fileprivate static let moveCode = uuid("otp", "Code that proves the other address.")
}

extension Field<AddedDevice> {
    fileprivate static let device = record(
        .client, .text("client_name", "Name of the installation."), .account, .optional(.notice),
        make: { AddedDevice(installation: $0, clientName: $1, account: $2, mail: $3) },
        take: { ($0.installation, $0.clientName, $0.account, $0.mail) })
}

extension Field<PendingMove> {
    fileprivate static let move = record(
        .uuid("mailbox", "Mailbox that the owner wants to move to."), .moveCode, .generation,
        make: { PendingMove(mailbox: $0, code: $1, generation: $2) },
        take: { ($0.mailbox, $0.code, $0.generation) })
}

extension Field<TimedName> {
    fileprivate static func timed(_ sentence: String) -> Field {
        record(
            .uuid("name", sentence), .expiresAt, .generation,
            make: { TimedName($0, until: $1, generation: $2) },
            take: { ($0.name, $0.expiresAt, $0.generation) })
    }
}

/// An installation that was let in, and who is told of it.
public struct AddedDevice: Sendable, Equatable {
    public var installation: UUID
    public var clientName: String
    public var account: UUID
    /// Nil where no notice is sent: the setting is there from the beginning.
    public var mail: UUID?

    public init(installation: UUID, clientName: String, account: UUID, mail: UUID?) {
        self.installation = installation
        self.clientName = clientName
        self.account = account
        self.mail = mail
    }
}

/// To which mailbox an owner wants to move, and by which mailed code.
public struct PendingMove: Sendable, Equatable {
    public var mailbox: UUID
    public var code: UUID
    /// Of the owner's proofs, as it was then.
    public var generation: Int

    public init(mailbox: UUID, code: UUID, generation: Int = 0) {
        self.mailbox = mailbox
        self.code = code
        self.generation = generation
    }
}

/// What stands for a mailed code until a moment, by its name.
public struct TimedName: Sendable, Equatable {
    public var name: UUID
    public var expiresAt: Timestamp
    /// Of the owner's proofs, as it was then.
    public var generation: Int

    public init(_ name: UUID, until expiresAt: Timestamp, generation: Int = 0) {
        self.name = name
        self.expiresAt = expiresAt
        self.generation = generation
    }

    func stands(for name: UUID, of account: Account, at now: Timestamp) -> Bool {
        self.name == name && now < expiresAt && generation == account.proofGeneration
    }
}
