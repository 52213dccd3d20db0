public import EventSourcing
public import Values

/// How an account came to be.
public enum AccountOrigin: String, CaseIterable, Sendable {
    /// Its person proved a new mailbox by a code.
    case code
    case administrator
}

/// What happens to a person's account.
public enum AccountEvent: FormedEvent {
    /// The mailbox is a stream of its own; whether it was proved is `confirmed`.
    case registered(mailbox: UUID, isConfirmed: Bool, origin: AccountOrigin, person: Person)
    /// A code or link that went to the mailbox came back.
    case mailboxConfirmed
    /// The account has another mailbox. What was mailed to the former one is sealed under `left`;
    /// this mail notifies its reader.
    case mailboxChanged(mailbox: UUID, isConfirmed: Bool, left: UUID, mail: UUID? = nil)
    /// The same, where its person showed more than the mailbox: what is signed in stays so.
    case mailboxMoved(mailbox: UUID, left: UUID, mail: UUID? = nil)
    /// It has a mail address and a phone number from now on, or had. What was sent to the mailboxes that it
    /// gave up is sealed under `left`.
    case addressesChanged(Addresses, left: [UUID], mail: UUID? = nil)
    /// It was moved in from another system, together with its registration.
    case imported(AccountImport)
    case personChanged(Person)
    /// It has these roles and no others.
    case rolesChanged(GivenRoles)
    /// Its person is told by this mail, if by any; so with the others.
    case disabled(mail: UUID? = nil)
    case enabled
    /// Every session that was opened before is over.
    case stampRotated(mail: UUID? = nil)
    /// Every session that the account had by then at this place is over: it is the account's removal of this number.
    case accessRemoved(AccessPlace, number: Int)
    /// Everything mailed before is invalidated: the passphrase is another one.
    case proofsEnded
    /// Its person is kept out from now on. `base` is what the link in the mail begins with by which
    /// the person cancels the deletion; nil where an administrator decided it.
    case deletionScheduled(
        due: Timestamp, mail: UUID? = nil, base: String? = nil, isAdministrators: Bool = false)
    case deletionCancelled
    /// There is no account any more. The keys of these subjects are to be destroyed, beside its own.
    case deleted(subjects: [UUID])
    /// The keys of the account's personal data are destroyed.
    case erased

    package enum Form {
        package static let registered = EventForm(
            "account.registered", .services, .registered, "An account was created.",
            .uuid("mailbox", "Mailbox of the account."), .isConfirmed,
            .choice("origin", "Origin of the account."), .person, make: AccountEvent.registered)
        package static let mailboxConfirmed = EventForm(
            "account.mailbox_confirmed", .services, .accountChanged,
            "The person proved the mailbox.",
            make: { AccountEvent.mailboxConfirmed })
        package static let mailboxChanged = EventForm(
            "account.mailbox_changed", .services, .mailboxChanged,
            "The account has another mailbox, and its sessions end.", .nextMailbox, .isConfirmed,
            .left, .optional(.notice), make: AccountEvent.mailboxChanged)
        package static let mailboxMoved = EventForm(
            "account.mailbox_moved", .services, .mailboxMoved,
            "The person moved the account to another mailbox.",
            .nextMailbox, .readAs(true, .isConfirmed), .left, .optional(.notice),
            make: { AccountEvent.mailboxMoved(mailbox: $0, left: $2, mail: $3) })
        package static let addressesChanged = EventForm(
            "account.addresses_changed", .services, .recoveryChanged,
            "The account has these addresses, all of them proved.", .addresses,
            .uuids("left", "Subjects of what was sent to mailboxes given up."), .optional(.notice),
            make: AccountEvent.addressesChanged)
        package static let imported = EventForm(
            "account.imported", .audit, .accountChanged,
            "The account was moved in from another system.", .accountImport,
            make: AccountEvent.imported)
        package static let personChanged = EventForm(
            "account.person_changed", .services, .personChanged,
            "What the account knows of its person changed.", .person,
            make: AccountEvent.personChanged)
        package static let rolesChanged = EventForm(
            "account.roles_changed", .services, .rolesChanged,
            "The roles of the account were replaced.", .roles, make: AccountEvent.rolesChanged)
        package static let disabled = EventForm(
            "account.disabled", .services, .accountDisabled, "The account was disabled.",
            .optional(.notice), make: AccountEvent.disabled)
        package static let enabled = EventForm(
            "account.enabled", .services, .accountEnabled, "The account was enabled again.",
            make: { AccountEvent.enabled })
        package static let stampRotated = EventForm(
            "account.stamp_rotated", .services, .stampRotated, "All sessions of the account ended.",
            .optional(.notice), make: AccountEvent.stampRotated)
        package static let accessRemoved = EventForm(
            "account.access_removed", .services, .accessRemoved,
            "Sessions at a client, on a device or of a browser ended.", .place,
            .number("removals", "Number of the account's removals of access, with this one."),
            make: AccountEvent.accessRemoved)
        package static let proofsEnded = EventForm(
            "account.proofs_ended", .audit, .accountChanged,
            "Codes and links mailed before are invalid.",
            make: { AccountEvent.proofsEnded })
        package static let deletionScheduled = EventForm(
            "account.deletion_scheduled", .services, .deletionScheduled,
            "The account is to be deleted.", .time("due", "Time of the deletion."),
            .optional(.notice), .optional(.linkBase),
            .unless(
                false,
                .flag(
                    "administrator",
                    "Whether an administrator ordered it: no link of its person's calls it off.")),
            make: AccountEvent.deletionScheduled)
        package static let deletionCancelled = EventForm(
            "account.deletion_cancelled", .services, .deletionCancelled,
            "The account is not to be deleted any more.",
            make: { AccountEvent.deletionCancelled })
        package static let deleted = EventForm(
            "account.deleted", .services, .accountDeleted, "The account was deleted.",
            .uuids("subjects", "Subjects whose keys are destroyed beside its own."),
            make: AccountEvent.deleted)
        package static let erased = EventForm(
            "account.erased", .services, .accountErased,
            "The keys of the account's personal data were destroyed.",
            make: { AccountEvent.erased })
    }

    public static let forms: EventForms<Self> = [
        Form.registered, Form.mailboxConfirmed, Form.mailboxChanged, Form.mailboxMoved,
        Form.addressesChanged, Form.imported, Form.personChanged, Form.rolesChanged, Form.disabled,
        Form.enabled,
        Form.stampRotated, Form.accessRemoved, Form.proofsEnded, Form.deletionScheduled,
        Form.deletionCancelled, Form.deleted, Form.erased,
    ]

    /// The account is its person's subject: erasing it is erasing the account's key.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .registered(let mailbox, let isConfirmed, let origin, let person):
            Form.registered(mailbox, isConfirmed, origin, person)
        case .mailboxConfirmed: Form.mailboxConfirmed()
        case .mailboxChanged(let mailbox, let isConfirmed, let left, let mail):
            Form.mailboxChanged(mailbox, isConfirmed, left, mail)
        case .mailboxMoved(let mailbox, let left, let mail):
            Form.mailboxMoved(mailbox, true, left, mail)
        case .addressesChanged(let addresses, let left, let mail):
            Form.addressesChanged(addresses, left, mail)
        case .imported(let origin): Form.imported(origin)
        case .personChanged(let person): Form.personChanged(person)
        case .rolesChanged(let roles): Form.rolesChanged(roles)
        case .disabled(let mail): Form.disabled(mail)
        case .enabled: Form.enabled()
        case .stampRotated(let mail): Form.stampRotated(mail)
        case .accessRemoved(let place, let number): Form.accessRemoved(place, number)
        case .proofsEnded: Form.proofsEnded()
        case .deletionScheduled(let due, let mail, let base, let isAdministrators):
            Form.deletionScheduled(due, mail, base, isAdministrators)
        case .deletionCancelled: Form.deletionCancelled()
        case .deleted(let subjects): Form.deleted(subjects)
        case .erased: Form.erased()
        }
    }
}

extension Field<UUID> {
    fileprivate static let nextMailbox = uuid("mailbox", "Mailbox of the account from now on.")
    fileprivate static let left = uuid(
        "left", "Subject of what was mailed to the former mailbox.")
}

extension Field<Bool> {
    fileprivate static let isConfirmed = flag(
        "confirmed", "Whether the person proved the mailbox.")
}

extension Field<Addresses> {
    fileprivate static let addresses = record(
        .uuid("mailbox", "Mailbox of its mail address, else of its number."),
        .optional(.uuid("phone", "Mailbox of its number beside a mail address.")),
        make: { Addresses(mailbox: $0, phone: $1) }, take: { ($0.mailbox, $0.phone) })
}

extension Field<GivenRoles> {
    fileprivate static let roles = Field(
        .object("roles", "Role names by audience."), write: \.json, read: { GivenRoles($0) })
}
