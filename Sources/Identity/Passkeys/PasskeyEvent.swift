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

    public static let catalogue: [EventShape] = [
        EventShape(
            "passkey.enrolled", .services, "The person made a passkey.", EnrolledPasskey.eventFields
        ),
        EventShape(
            "passkey.enrollment_refused", .audit, "A new passkey was refused.",
            [
                .account, .text("reason", "Why it was refused."),
            ]),
        EventShape(
            "passkey.used", .internal, "The person signed in with the passkey.",
            [
                EnrolledPasskey.counter, EnrolledPasskey.backedUp,
                .time("used_at", "When it was used."),
            ]),
        EventShape(
            "passkey.renamed", .audit, "The person renamed the passkey.",
            [
                .account, .text("name", "What the person calls it.", .personal(.person)).optional,
            ]),
        EventShape(
            "passkey.removed", .services, "The passkey was removed.", [.account, .notice.optional]),
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
