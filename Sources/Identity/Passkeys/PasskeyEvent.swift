public import EventSourcing
public import JSON
public import Values

/// What happens to a passkey. Its stream has the name of the ceremony that made it, so that a
/// ceremony can be gone through once.
public enum PasskeyEvent: Event {
    case enrolled(EnrolledPasskey)
    /// What was presented made no passkey, and the ceremony is used up.
    case enrollmentRefused(account: UUID, reason: String)
    /// A sign-in with the passkey.
    case used(counter: Int64, isBackedUp: Bool, at: Timestamp)
    /// What its owner calls it. Nil where the owner is erased.
    case renamed(String?, account: UUID)
    /// `mail`: the message that tells the owner, where there still is one.
    case removed(account: UUID, mail: UUID?)

    public static let catalogue = [
        EventShape(
            "passkey.enrolled",
            open: [
                "account", "client", "relying_party", "credential", "public_key", "counter",
                "backup_eligible", "backed_up", "user_verified", "model", "transports", "format",
                "attestation", "trusted", "enrolled_at", "mail",
            ]),
        EventShape("passkey.enrollment_refused", open: ["account", "reason"]),
        EventShape("passkey.used", open: ["counter", "backed_up", "used_at"]),
        EventShape("passkey.renamed", open: ["account"], personal: ["name"]),
        EventShape("passkey.removed", open: ["account", "mail"]),
    ]

    public var name: String {
        switch self {
        case .enrolled: "passkey.enrolled"
        case .enrollmentRefused: "passkey.enrollment_refused"
        case .used: "passkey.used"
        case .renamed: "passkey.renamed"
        case .removed: "passkey.removed"
        }
    }

    public var subject: UUID? {
        switch self {
        case .enrolled(let passkey): passkey.account
        case .enrollmentRefused(let account, _), .renamed(_, let account),
            .removed(let account, _):
            account
        case .used: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .enrolled(let passkey): return passkey.fields
        case .enrollmentRefused(let account, let reason):
            return ["account": .uuid(account), "reason": .string(reason)]
        case .used(let counter, let isBackedUp, let at):
            return [
                "counter": .integer(counter), "backed_up": .bool(isBackedUp),
                "used_at": .integer(at.seconds),
            ]
        case .renamed(let name, let account):
            var fields: JSONObject = ["account": .uuid(account)]
            fields["name"] = name.map { .string($0) }
            return fields
        case .removed(let account, let mail):
            var fields: JSONObject = ["account": .uuid(account)]
            fields["mail"] = mail.map { .uuid($0) }
            return fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "passkey.enrolled":
            guard let passkey = EnrolledPasskey(recorded: fields) else { return nil }
            self = .enrolled(passkey)
        case "passkey.enrollment_refused":
            guard let account = fields.uuid("account"), let reason = fields["reason"]?.string
            else { return nil }
            self = .enrollmentRefused(account: account, reason: reason)
        case "passkey.used":
            guard let counter = fields["counter"]?.integer,
                let isBackedUp = fields["backed_up"]?.bool, let at = fields.instant("used_at")
            else { return nil }
            self = .used(counter: counter, isBackedUp: isBackedUp, at: at)
        case "passkey.renamed":
            guard let account = fields.uuid("account") else { return nil }
            self = .renamed(fields["name"]?.string, account: account)
        case "passkey.removed":
            guard let account = fields.uuid("account") else { return nil }
            self = .removed(account: account, mail: fields.uuid("mail"))
        default: return nil
        }
    }
}
