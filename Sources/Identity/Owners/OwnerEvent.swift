public import EventSourcing
public import JSON
public import Values

/// What happens to a realm's owner.
public enum OwnerEvent: Event {
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

    private static let token: EventField =
        .uuid("token", "Name that the token of the invite follows from under the realm's key.")
    private static let moveCode: EventField = .uuid("otp", "Code that proves the other address.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "owner.appointed", .audit, "An account was appointed owner of the realm.",
            [.account, token, .generation]),
        EventShape(
            "owner.invited", .audit, "The owner was invited by mail to take the realm over.",
            [
                .account, token, .linkBase, .uuid("mail", "Mail that carries the invite."),
                .generation,
            ]),
        EventShape(
            "owner.onboarded", .audit, "The owner set their first passphrase.",
            [
                .uuid("client", "Installation that the owner used.")
            ]),
        EventShape(
            "owner.mailed_codes_changed", .services, "The owner switched mailed codes on or off.",
            [
                .flag("needed", "Whether a passphrase needs a mailed code beside it.")
            ]),
        EventShape(
            "owner.device_added", .services, "The owner let an installation in.",
            [
                .client, .text("client_name", "Name of the installation."), .account,
                .notice.optional,
            ]),
        EventShape(
            "owner.device_removed", .services, "The owner removed an installation.", [.client]),
        EventShape(
            "owner.move_requested", .audit, "The owner asked to move to another address.",
            [
                .uuid("mailbox", "Mailbox that the owner wants to move to."), moveCode, .generation,
            ]),
        EventShape(
            "owner.move_ended", .internal, "The owner moved, or wants to move no more.", [moveCode]),
        EventShape(
            "owner.mailbox_vouched", .internal,
            "A caller vouched that the owner reads the mailbox.",
            [
                .uuid("name", "Name of the code that replaces a mailed one."), .expiresAt,
                .generation,
            ]),
        EventShape(
            "owner.browser_trusted", .audit, "A browser needs no mailed code for a while.",
            [
                .uuid("name", "Name by which the browser is known."), .expiresAt, .generation,
            ]),
        EventShape("owner.terms_signed", .audit, "The owner agreed to the terms."),
    ]

    public var name: String {
        switch self {
        case .appointed: "owner.appointed"
        case .invited: "owner.invited"
        case .onboarded: "owner.onboarded"
        case .mailedCodesChanged: "owner.mailed_codes_changed"
        case .deviceAdded: "owner.device_added"
        case .deviceRemoved: "owner.device_removed"
        case .moveRequested: "owner.move_requested"
        case .moveEnded: "owner.move_ended"
        case .mailboxVouched: "owner.mailbox_vouched"
        case .browserTrusted: "owner.browser_trusted"
        case .termsSigned: "owner.terms_signed"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .deviceAdded(let device): return device.fields
        case .deviceRemoved(let installation): return ["client": .uuid(installation)]
        case .appointed(let account, let token, let generation):
            var fields: JSONObject = ["account": .uuid(account), "token": .uuid(token)]
            fields.setGeneration(generation)
            return fields
        case .invited(let account, let token, let base, let mail, let generation):
            var fields: JSONObject = [
                "account": .uuid(account), "token": .uuid(token), "base": .string(base),
                "mail": .uuid(mail),
            ]
            fields.setGeneration(generation)
            return fields
        case .onboarded(let installation): return ["client": .uuid(installation)]
        case .mailedCodesChanged(let isNeeded): return ["needed": .bool(isNeeded)]
        case .moveRequested(let move):
            var fields: JSONObject = ["mailbox": .uuid(move.mailbox), "otp": .uuid(move.code)]
            fields.setGeneration(move.generation)
            return fields
        case .moveEnded(let code): return ["otp": .uuid(code)]
        case .mailboxVouched(let code), .browserTrusted(let code): return code.fields
        case .termsSigned: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
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
            self = .appointed(account, token: token, generation: fields.generation)
        case "owner.invited":
            guard let account = fields.uuid("account"), let token = fields.uuid("token"),
                let base = fields["base"]?.string, let mail = fields.uuid("mail")
            else { return nil }
            self = .invited(
                account, token: token, base: base, mail: mail, generation: fields.generation)
        case "owner.onboarded":
            guard let client = fields.uuid("client") else { return nil }
            self = .onboarded(installation: client)
        case "owner.mailed_codes_changed":
            guard let isNeeded = fields["needed"]?.bool else { return nil }
            self = .mailedCodesChanged(isNeeded: isNeeded)
        case "owner.move_requested":
            guard let mailbox = fields.uuid("mailbox"), let code = fields.uuid("otp") else {
                return nil
            }
            self = .moveRequested(
                PendingMove(mailbox: mailbox, code: code, generation: fields.generation))
        case "owner.move_ended":
            guard let code = fields.uuid("otp") else { return nil }
            self = .moveEnded(code: code)
        case "owner.mailbox_vouched", "owner.browser_trusted":
            guard let code = TimedName(recorded: fields) else { return nil }
            self = name == "owner.browser_trusted" ? .browserTrusted(code) : .mailboxVouched(code)
        case "owner.terms_signed": self = .termsSigned
        default: return nil
        }
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

    var fields: JSONObject {
        var fields: JSONObject = [
            "client": .uuid(installation), "client_name": .string(clientName),
            "account": .uuid(account),
        ]
        fields["mail"] = mail.map { .uuid($0) }
        return fields
    }

    init?(recorded fields: JSONObject) {
        guard let installation = fields.uuid("client"),
            let name = fields["client_name"]?.string, let account = fields.uuid("account")
        else { return nil }
        self.init(
            installation: installation, clientName: name, account: account,
            mail: fields.uuid("mail"))
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

    var fields: JSONObject {
        var fields: JSONObject = [
            "name": .uuid(name), "expires_at": .integer(expiresAt.seconds),
        ]
        fields.setGeneration(generation)
        return fields
    }

    init?(recorded fields: JSONObject) {
        guard let name = fields.uuid("name"), let expiresAt = fields.instant("expires_at") else {
            return nil
        }
        self.init(name, until: expiresAt, generation: fields.generation)
    }
}
