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
    /// An installation was let in.
    case deviceAdded(AddedDevice)
    case deviceRemoved(UUID)

    public static let catalogue = [
        EventShape("owner.appointed", open: ["account", "token"]),
        EventShape("owner.invited", open: ["account", "token", "base", "mail"]),
        EventShape("owner.onboarded", open: ["client"]),
        EventShape("owner.mailed_codes_changed", open: ["needed"]),
        EventShape("owner.device_added", open: ["client", "client_name", "account", "mail"]),
        EventShape("owner.device_removed", open: ["client"]),
    ]

    public var name: String {
        switch self {
        case .appointed: "owner.appointed"
        case .invited: "owner.invited"
        case .onboarded: "owner.onboarded"
        case .mailedCodesChanged: "owner.mailed_codes_changed"
        case .deviceAdded: "owner.device_added"
        case .deviceRemoved: "owner.device_removed"
        }
    }

    public var subject: UUID? { nil }

    public var fields: [String: JSON] {
        switch self {
        case .deviceAdded(let device): device.fields
        case .deviceRemoved(let installation): ["client": .uuid(installation)]
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
        case "owner.device_added":
            guard let device = AddedDevice(recorded: fields) else { return nil }
            self = .deviceAdded(device)
        case "owner.device_removed":
            guard let client = fields.uuid("client") else { return nil }
            self = .deviceRemoved(client)
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

/// An installation that was let in, and who is told of it.
public struct AddedDevice: Sendable, Equatable {
    public var installation: UUID
    public var clientName: String
    public var account: UUID
    /// Nil where nobody is told: it is there from the beginning.
    public var mail: UUID?

    public init(installation: UUID, clientName: String, account: UUID, mail: UUID?) {
        self.installation = installation
        self.clientName = clientName
        self.account = account
        self.mail = mail
    }

    var fields: [String: JSON] {
        var fields: [String: JSON] = [
            "client": .uuid(installation), "client_name": .string(clientName),
            "account": .uuid(account),
        ]
        fields["mail"] = mail.map { .uuid($0) }
        return fields
    }

    init?(recorded fields: [String: JSON]) {
        guard let installation = fields.uuid("client"),
            let name = fields["client_name"]?.string, let account = fields.uuid("account")
        else { return nil }
        self.init(
            installation: installation, clientName: name, account: account,
            mail: fields.uuid("mail"))
    }
}
