public import EventSourcing
public import JSON
public import Values

/// What happens to an account's passphrase.
public enum PassphraseEvent: Event {
    /// Its owner is told by the mail, if there is one. The hash is nil where the owner is erased.
    case set(hash: String?, account: UUID, mail: UUID?, at: Timestamp)
    /// The same, where a device hashes it first: see `DerivedPassphrase`.
    case derived(DerivedPassphrase, account: UUID, mail: UUID, at: Timestamp)
    /// A wrong passphrase was typed. Its owner is told by the mail, where guesses begin to rest.
    case refused(at: Timestamp, account: UUID? = nil, mail: UUID? = nil)
    /// It was right, after guesses that were not.
    case used
    case removed(account: UUID, mail: UUID)
    /// Its owner has another hint. Nil: none, or erased.
    case hintChanged(String?, account: UUID)
    /// The owner asked for the hint: the mail has these words.
    case hintRequested(String?, account: UUID, mail: UUID)

    private static let setAt: EventField = .time("set_at", "When it was set.")
    private static let hash: EventField =
        .text("hash", "Hash of the passphrase.", .neverLeaves(.sealed)).optional
    private static let hint: EventField =
        .text("hint", "Hint that the person wrote for themselves.", .personal(.person)).optional

    public static let catalogue: [EventShape] = [
        EventShape(
            "passphrase.set", .services, "The person set a passphrase.",
            [.account, .notice.optional, setAt, hash]),
        EventShape(
            "passphrase.derived", .services,
            "The person set a passphrase that their device derives.",
            [
                .account, .notice, setAt, hash, hint,
                .integer("rounds", "PBKDF2 rounds that the device runs."),
                .text("key", "Key of the app, wrapped on the device.", .neverLeaves(.sealed))
                    .optional,
                .text("public_key", "Public key of the app.", .personal(.person)).optional,
                .text(
                    "private_key", "Private key of the app, wrapped on the device.",
                    .neverLeaves(.sealed)
                ).optional,
            ]),
        EventShape(
            "passphrase.refused", .audit, "A wrong passphrase was typed.",
            [.account.optional, .notice.optional, .refusedAt]),
        EventShape(
            "passphrase.used", .internal, "The right passphrase was typed after wrong ones."),
        EventShape(
            "passphrase.removed", .services, "The passphrase was removed.", [.account, .notice]),
        EventShape(
            "passphrase.hint_changed", .audit, "The person changed the hint of their passphrase.",
            [.account, hint]),
        EventShape(
            "passphrase.hint_requested", .audit, "The person had the hint mailed to them.",
            [
                .account, .uuid("mail", "Mail that contains the hint."), hint,
            ]),
    ]

    public var name: String {
        switch self {
        case .set: "passphrase.set"
        case .derived: "passphrase.derived"
        case .refused: "passphrase.refused"
        case .used: "passphrase.used"
        case .removed: "passphrase.removed"
        case .hintChanged: "passphrase.hint_changed"
        case .hintRequested: "passphrase.hint_requested"
        }
    }

    public var subject: UUID? {
        switch self {
        case .set(_, let account, _, _), .derived(_, let account, _, _), .removed(let account, _),
            .hintChanged(_, let account), .hintRequested(_, let account, _):
            account
        case .refused, .used: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .set(let hash, let account, let mail, let at):
            var fields: JSONObject = [
                "account": .uuid(account), "set_at": .integer(at.seconds),
            ]
            fields["mail"] = mail.map { .uuid($0) }
            fields["hash"] = hash.map { .string($0) }
            return fields
        case .derived(let derived, let account, let mail, let at):
            var fields = derived.fields
            fields["account"] = .uuid(account)
            fields["mail"] = .uuid(mail)
            fields["set_at"] = .integer(at.seconds)
            return fields
        case .refused(let at, let account, let mail):
            var fields: JSONObject = ["refused_at": .integer(at.seconds)]
            fields["account"] = account.map { .uuid($0) }
            fields["mail"] = mail.map { .uuid($0) }
            return fields
        case .used: return [:]
        case .removed(let account, let mail):
            return ["account": .uuid(account), "mail": .uuid(mail)]
        case .hintChanged(let hint, let account):
            var fields: JSONObject = ["account": .uuid(account)]
            fields["hint"] = hint.map { .string($0) }
            return fields
        case .hintRequested(let hint, let account, let mail):
            var fields: JSONObject = ["account": .uuid(account), "mail": .uuid(mail)]
            fields["hint"] = hint.map { .string($0) }
            return fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "passphrase.set":
            guard let account = fields.uuid("account"), let at = fields.instant("set_at") else {
                return nil
            }
            self = .set(
                hash: fields["hash"]?.string, account: account, mail: fields.uuid("mail"), at: at)
        case "passphrase.derived":
            guard let account = fields.uuid("account"), let mail = fields.uuid("mail"),
                let at = fields.instant("set_at"), let derived = DerivedPassphrase(recorded: fields)
            else { return nil }
            self = .derived(derived, account: account, mail: mail, at: at)
        case "passphrase.refused":
            guard let at = fields.instant("refused_at") else { return nil }
            self = .refused(at: at, account: fields.uuid("account"), mail: fields.uuid("mail"))
        case "passphrase.used": self = .used
        case "passphrase.removed":
            guard let account = fields.uuid("account"), let mail = fields.uuid("mail") else {
                return nil
            }
            self = .removed(account: account, mail: mail)
        case "passphrase.hint_changed":
            guard let account = fields.uuid("account") else { return nil }
            self = .hintChanged(fields["hint"]?.string, account: account)
        case "passphrase.hint_requested":
            guard let account = fields.uuid("account"), let mail = fields.uuid("mail") else {
                return nil
            }
            self = .hintRequested(fields["hint"]?.string, account: account, mail: mail)
        default: return nil
        }
    }
}
