public import EventSourcing
public import JSON
public import Values

/// How an account came to be.
public enum AccountOrigin: String, Sendable {
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
    case personChanged(Person)
    case disabled
    case enabled
    /// Every session that was opened before is over.
    case stampRotated
    case deleted

    public static let catalogue = [
        EventShape(
            "account.registered", open: ["mailbox", "confirmed", "origin"],
            personal: Person.fieldNames),
        EventShape("account.mailbox_confirmed"),
        EventShape("account.person_changed", personal: Person.fieldNames),
        EventShape("account.disabled"),
        EventShape("account.enabled"),
        EventShape("account.stamp_rotated"),
        EventShape("account.deleted"),
    ]

    public var name: String {
        switch self {
        case .registered: "account.registered"
        case .mailboxConfirmed: "account.mailbox_confirmed"
        case .personChanged: "account.person_changed"
        case .disabled: "account.disabled"
        case .enabled: "account.enabled"
        case .stampRotated: "account.stamp_rotated"
        case .deleted: "account.deleted"
        }
    }

    public var subject: UUID? { nil }

    /// The account is its person's subject: erasing it is erasing the account's key.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: [String: JSON] {
        switch self {
        case .registered(let mailbox, let isConfirmed, let origin, let person):
            person.fields.merging([
                "mailbox": .uuid(mailbox), "confirmed": .bool(isConfirmed),
                "origin": .string(origin.rawValue),
            ]) { $1 }
        case .personChanged(let person): person.fields
        case .mailboxConfirmed, .disabled, .enabled, .stampRotated, .deleted: [:]
        }
    }

    public init?(name: String, fields: [String: JSON]) {
        switch name {
        case "account.registered":
            guard let mailbox = fields.uuid("mailbox"), let isConfirmed = fields["confirmed"]?.bool,
                let origin: AccountOrigin = fields.choice("origin")
            else { return nil }
            self = .registered(
                mailbox: mailbox, isConfirmed: isConfirmed, origin: origin,
                person: Person(fields: fields))
        case "account.mailbox_confirmed": self = .mailboxConfirmed
        case "account.person_changed": self = .personChanged(Person(fields: fields))
        case "account.disabled": self = .disabled
        case "account.enabled": self = .enabled
        case "account.stamp_rotated": self = .stampRotated
        case "account.deleted": self = .deleted
        default: return nil
        }
    }
}
