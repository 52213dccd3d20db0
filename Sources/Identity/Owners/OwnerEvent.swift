public import EventSourcing
public import JSON
public import Values

/// What happens to a realm's owner.
public enum OwnerEvent: Event {
    /// The token by which he takes the realm over follows from the name, and from no other again.
    case appointed(UUID, token: UUID)
    /// The token is mailed to him, in a link that begins with this.
    case invited(UUID, token: UUID, base: String, mail: UUID)
    /// He set his first passphrase.
    case onboarded(installation: UUID)
    /// Whether a passphrase needs a mailed code beside it.
    case mailedCodesChanged(isNeeded: Bool)

    public static let catalogue = [
        EventShape("owner.appointed", open: ["account", "token"]),
        EventShape("owner.invited", open: ["account", "token", "base", "mail"]),
        EventShape("owner.onboarded", open: ["client"]),
        EventShape("owner.mailed_codes_changed", open: ["needed"]),
    ]

    public var name: String {
        switch self {
        case .appointed: "owner.appointed"
        case .invited: "owner.invited"
        case .onboarded: "owner.onboarded"
        case .mailedCodesChanged: "owner.mailed_codes_changed"
        }
    }

    public var subject: UUID? { nil }

    public var fields: [String: JSON] {
        switch self {
        case .appointed(let account, let token):
            ["account": .uuid(account), "token": .uuid(token)]
        case .invited(let account, let token, let base, let mail):
            [
                "account": .uuid(account), "token": .uuid(token), "base": .string(base),
                "mail": .uuid(mail),
            ]
        case .onboarded(let installation): ["client": .uuid(installation)]
        case .mailedCodesChanged(let isNeeded): ["needed": .bool(isNeeded)]
        }
    }

    public init?(name: String, fields: [String: JSON]) {
        switch name {
        case "owner.appointed":
            guard let account = fields.uuid("account"), let token = fields.uuid("token") else {
                return nil
            }
            self = .appointed(account, token: token)
        case "owner.invited":
            guard let account = fields.uuid("account"), let token = fields.uuid("token"),
                let base = fields["base"]?.string, let mail = fields.uuid("mail")
            else { return nil }
            self = .invited(account, token: token, base: base, mail: mail)
        case "owner.onboarded":
            guard let client = fields.uuid("client") else { return nil }
            self = .onboarded(installation: client)
        case "owner.mailed_codes_changed":
            guard let isNeeded = fields["needed"]?.bool else { return nil }
            self = .mailedCodesChanged(isNeeded: isNeeded)
        default: return nil
        }
    }
}
