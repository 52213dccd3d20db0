public import EventSourcing
public import JSON
public import Values

/// How an account came to be.
public enum AccountOrigin: String, CaseIterable, Sendable {
    /// Its person proved a new mailbox by a code.
    case code
    case administrator
}

/// What happens to a person's account.
public enum AccountEvent: Event {
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
    /// They are destroyed.
    case erased

    private static let confirmed: EventField =
        .flag("confirmed", "Whether the person proved the mailbox.")
    private static let moved: [EventField] = [
        .uuid("mailbox", "Mailbox of the account from now on."), confirmed,
        .uuid("left", "Subject of what was mailed to the former mailbox."), .notice.optional,
    ]

    public static let catalogue: [EventShape] = [
        EventShape(
            "account.registered", .services, "An account was created.",
            [
                .uuid("mailbox", "Mailbox of the account."), confirmed,
                .choice("origin", AccountOrigin.self, "How the account came to be."),
            ], Person.eventFields),
        EventShape("account.mailbox_confirmed", .services, "The person proved the mailbox."),
        EventShape(
            "account.mailbox_changed", .services,
            "The account has another mailbox, and its sessions end.", moved),
        EventShape(
            "account.mailbox_moved", .services, "The person moved the account to another mailbox.",
            moved),
        EventShape(
            "account.addresses_changed", .services,
            "The account has these addresses, all of them proved.",
            [
                .uuid("mailbox", "Mailbox of its mail address, else of its number."),
                .uuid("phone", "Mailbox of its number beside a mail address.").optional,
                .uuids("left", "Subjects of what was sent to mailboxes given up."),
                .notice.optional,
            ]),
        EventShape(
            "account.person_changed", .services, "What the account knows of its person changed.",
            Person.eventFields),
        EventShape(
            "account.roles_changed", .services, "The roles of the account were replaced.",
            [
                .object("roles", "Role names by audience.")
            ]),
        EventShape("account.disabled", .services, "The account was disabled.", [.notice.optional]),
        EventShape("account.enabled", .services, "The account was enabled again."),
        EventShape(
            "account.stamp_rotated", .services, "All sessions of the account ended.",
            [.notice.optional]),
        EventShape(
            "account.access_removed", .services,
            "The account's sessions at a client, on a device or of a browser ended.",
            [
                EventField.client.optional,
                .uuid("federated_device", "Device whose sessions ended.").optional,
                .uuid("browser", "First session of the browser whose clients' sessions ended.")
                    .optional,
                .flag("offline", "Whether those of the browser with offline access ended.")
                    .optional,
                .integer("removals", "Number of the account's removals of access, with this one."),
            ]),
        EventShape("account.proofs_ended", .audit, "Codes and links mailed before are invalid."),
        EventShape(
            "account.deletion_scheduled", .services, "The account is to be deleted.",
            [
                .time("due", "When it is deleted."), .notice.optional, .linkBase.optional,
                .flag(
                    "administrator",
                    "Whether an administrator ordered it: no link of its person's calls it off."
                ).optional,
            ]),
        EventShape(
            "account.deletion_cancelled", .services, "The account is not to be deleted any more."),
        EventShape(
            "account.deleted", .services, "The account was deleted.",
            [
                .uuids("subjects", "Subjects whose keys are destroyed beside its own.")
            ]),
        EventShape(
            "account.erased", .services, "The keys of the account's personal data were destroyed."),
    ]

    public var name: String {
        switch self {
        case .registered: "account.registered"
        case .mailboxConfirmed: "account.mailbox_confirmed"
        case .mailboxChanged: "account.mailbox_changed"
        case .mailboxMoved: "account.mailbox_moved"
        case .addressesChanged: "account.addresses_changed"
        case .personChanged: "account.person_changed"
        case .rolesChanged: "account.roles_changed"
        case .disabled: "account.disabled"
        case .enabled: "account.enabled"
        case .stampRotated: "account.stamp_rotated"
        case .accessRemoved: "account.access_removed"
        case .proofsEnded: "account.proofs_ended"
        case .deletionScheduled: "account.deletion_scheduled"
        case .deletionCancelled: "account.deletion_cancelled"
        case .deleted: "account.deleted"
        case .erased: "account.erased"
        }
    }

    public var subject: UUID? { nil }

    /// The account is its person's subject: erasing it is erasing the account's key.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .registered(let mailbox, let isConfirmed, let origin, let person):
            person.fields.merging([
                "mailbox": .uuid(mailbox), "confirmed": .bool(isConfirmed),
                "origin": .string(origin.rawValue),
            ]) { $1 }
        case .mailboxChanged(let mailbox, let isConfirmed, let left, let mail):
            Self.mail(mail).merging([
                "mailbox": .uuid(mailbox), "confirmed": .bool(isConfirmed), "left": .uuid(left),
            ]) { $1 }
        case .mailboxMoved(let mailbox, let left, let mail):
            Self.mail(mail).merging([
                "mailbox": .uuid(mailbox), "confirmed": true, "left": .uuid(left),
            ]) { $1 }
        case .addressesChanged(let addresses, let left, let mail):
            Self.mail(mail)
                .merging(addresses.phone.map { ["phone": .uuid($0)] } ?? [:]) { own, _ in own }
                .merging([
                    "mailbox": .uuid(addresses.mailbox), "left": .texts(left.map(\.description)),
                ]) { own, _ in own }
        case .personChanged(let person): person.fields
        case .rolesChanged(let roles): ["roles": roles.json]
        case .disabled(let mail), .stampRotated(let mail): Self.mail(mail)
        case .accessRemoved(let place, let number):
            place.fields.merging(["removals": .integer(Int64(number))]) { own, _ in own }
        case .deletionScheduled(let due, let mail, let base, let isAdministrators):
            Self.mail(mail)
                .merging(isAdministrators ? ["administrator": true] : [:]) { own, _ in own }
                .merging(base.map { ["base": .string($0)] } ?? [:]) { own, _ in own }
                .merging(["due": .integer(due.seconds)]) { own, _ in own }
        case .deleted(let subjects): ["subjects": .texts(subjects.map(\.description))]
        case .mailboxConfirmed, .enabled, .proofsEnded, .deletionCancelled, .erased: [:]
        }
    }

    private static func mail(_ mail: UUID?) -> JSONObject {
        mail.map { ["mail": .uuid($0)] } ?? [:]
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "account.registered":
            guard let mailbox = fields.uuid("mailbox"), let isConfirmed = fields["confirmed"]?.bool,
                let origin: AccountOrigin = fields.choice("origin")
            else { return nil }
            self = .registered(
                mailbox: mailbox, isConfirmed: isConfirmed, origin: origin,
                person: Person(fields: fields))
        case "account.mailbox_confirmed": self = .mailboxConfirmed
        case "account.mailbox_changed":
            guard let mailbox = fields.uuid("mailbox"), let isConfirmed = fields["confirmed"]?.bool,
                let left = fields.uuid("left")
            else { return nil }
            self = .mailboxChanged(
                mailbox: mailbox, isConfirmed: isConfirmed, left: left, mail: fields.uuid("mail"))
        case "account.mailbox_moved":
            guard let mailbox = fields.uuid("mailbox"), let left = fields.uuid("left") else {
                return nil
            }
            self = .mailboxMoved(mailbox: mailbox, left: left, mail: fields.uuid("mail"))
        case "account.addresses_changed":
            guard let mailbox = fields.uuid("mailbox"), let left = fields.texts("left") else {
                return nil
            }
            self = .addressesChanged(
                Addresses(mailbox: mailbox, phone: fields.uuid("phone")),
                left: left.compactMap { UUID($0) }, mail: fields.uuid("mail"))
        case "account.person_changed": self = .personChanged(Person(fields: fields))
        case "account.roles_changed":
            guard let roles = GivenRoles(fields["roles"]) else { return nil }
            self = .rolesChanged(roles)
        case "account.disabled": self = .disabled(mail: fields.uuid("mail"))
        case "account.enabled": self = .enabled
        case "account.stamp_rotated": self = .stampRotated(mail: fields.uuid("mail"))
        case "account.access_removed":
            guard let place = AccessPlace(recorded: fields),
                let number = fields["removals"]?.integer
            else { return nil }
            self = .accessRemoved(place, number: Int(clamping: number))
        case "account.proofs_ended": self = .proofsEnded
        case "account.deletion_scheduled":
            guard let due = fields.instant("due") else { return nil }
            self = .deletionScheduled(
                due: due, mail: fields.uuid("mail"), base: fields["base"]?.string,
                isAdministrators: fields["administrator"]?.bool ?? false)
        case "account.deletion_cancelled": self = .deletionCancelled
        case "account.deleted":
            guard let subjects = fields.texts("subjects") else { return nil }
            self = .deleted(subjects: subjects.compactMap { UUID($0) })
        case "account.erased": self = .erased
        default: return nil
        }
    }
}
