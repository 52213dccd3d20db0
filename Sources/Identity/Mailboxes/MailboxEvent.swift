public import EventSourcing
public import JSON
public import Values

/// A one-time code as the log knows it. The code itself follows from an id under the realm's key,
/// so that the mailer needs no copy of it.
public struct IssuedCode: Sendable, Equatable {
    public enum Purpose: String, Sendable, CaseIterable {
        /// For the account that holds the mailbox.
        case signIn = "sign_in"
        /// To make an account of the person who proves the mailbox.
        case registration
        /// To move an account to the mailbox.
        case move
        /// To set another PIN for a tenant's apps. It signs nobody in.
        case pinReset = "pin_reset"
    }

    public let id: UUID
    public let purpose: Purpose
    /// The code that this one repeats: its digits follow from that one's id.
    public var repeated: UUID?
    /// A keyed digest of mailbox and code.
    public let digest: SecretDigest
    public let app: UUID?
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
    /// To whom it is mailed. Whose names an account has that is made by it: see `Mailbox.joiner`.
    public let person: Person
    /// A keyed digest of the network that it was asked for from, where an account may be made by it.
    public var source: String?
    /// By what it goes to the person.
    public var channel = Channel.mail
    /// What a link begins with, where one is sent in the place of the digits. Such a link confirms the code to
    /// the page that asked for it, or moves an account.
    public var base: String?
    /// The account that moves by it, if one does.
    public var account: UUID?
    /// Of that account's proofs, or of those of the account that signs in by it, as it was then.
    public var generation = 0

    /// The id that its digits follow from.
    public var root: UUID { repeated ?? id }

    public init(
        id: UUID, purpose: Purpose, digest: SecretDigest, app: UUID?, issuedAt: Timestamp,
        expiresAt: Timestamp, person: Person
    ) {
        self.id = id
        self.purpose = purpose
        self.digest = digest
        self.app = app
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.person = person
    }
}

/// What happens to a mailbox: a mail address or a phone number in a realm, with or without an account.
public enum MailboxEvent: Event {
    /// An account holds it from now on.
    case assigned(UUID)
    /// That account gave it up. What is mailed to it from now on is of another subject.
    case released(UUID, next: UUID? = nil)
    case codeIssued(IssuedCode)
    /// It was asked for again before another may be mailed, under these names and from this network.
    case codeRenamed(UUID, Person, source: String? = nil)
    /// A wrong code was typed.
    case codeRefused(UUID, at: Timestamp)
    /// Its link was opened: the page that asked for it may redeem it.
    case codeConfirmed(UUID)
    case codeRedeemed(UUID)
    /// An invite was used up for it: it may join.
    case invited(Invitation)
    case linkIssued(IssuedLink)
    case linkRedeemed(UUID)

    private static let code: EventField = .uuid("otp", "Name of the code.")
    private static let link: EventField = .uuid("link", "Name of the link.")
    /// Anyone may type an address, which is mailed a code: the network need not be its reader's.
    private static let network: EventField =
        .bytes(
            "source", "Pseudonym of the network that asked for the code.",
            .personal(.administrators)
        ).optional

    public static let catalogue: [EventShape] = [
        EventShape(
            "mailbox.assigned", .internal, "An account holds the mailbox from now on.", [.account]),
        EventShape(
            "mailbox.released", .internal, "The account gave the mailbox up.",
            [
                .account, .uuid("next", "Subject of what is mailed to it from now on.").optional,
            ]),
        EventShape(
            "otp.issued", .audit, "A one-time code was sent.",
            [
                code,
                .choice("purpose", IssuedCode.Purpose.self, "What the code is for."),
                .codeDigest, .app, .issuedAt, .expiresAt, .linkBase.optional,
                .uuid("account", "Account that moves to the mailbox by the code.").optional,
                .generation, network,
                .choice(
                    "channel", Channel.self, "By what it was sent; by mail, if nothing is said."
                )
                .optional,
                .uuid("repeats", "The code that was sent once more, if it was another one's.")
                    .optional,
            ], Person.eventFields),
        EventShape(
            "otp.renamed", .internal, "The code was asked for again under other names.",
            [code, network], Person.eventFields),
        EventShape("otp.refused", .audit, "A wrong one-time code was typed.", [code, .refusedAt]),
        EventShape("otp.confirmed", .audit, "The link of a one-time code was opened.", [code]),
        EventShape("otp.redeemed", .internal, "The one-time code was redeemed.", [code]),
        EventShape(
            "mailbox.invited", .internal, "An invite was used for the mailbox.",
            [
                .uuid("invite", "Invite that was used."), .app,
            ]),
        EventShape(
            "link.issued", .audit, "A magic link was mailed.",
            [
                link, .account, .codeDigest, .app, .issuedAt, .expiresAt, .linkBase,
                .uuid("mail", "Mail that carries the link."), .generation,
                // Personal: it tells what the person was about to look at.
                .returnPath,
            ], Person.eventFields),
        EventShape("link.redeemed", .internal, "The magic link was redeemed.", [link]),
    ]

    public var name: String {
        switch self {
        case .assigned: "mailbox.assigned"
        case .released: "mailbox.released"
        case .codeIssued: "otp.issued"
        case .codeRenamed: "otp.renamed"
        case .codeRefused: "otp.refused"
        case .codeConfirmed: "otp.confirmed"
        case .codeRedeemed: "otp.redeemed"
        case .invited: "mailbox.invited"
        case .linkIssued: "link.issued"
        case .linkRedeemed: "link.redeemed"
        }
    }

    public var subject: UUID? { nil }

    /// Before there is an account, the mailbox is a subject of its own, until an account gives it up.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .assigned(let account): return ["account": .uuid(account)]
        case .released(let account, let next):
            var fields: JSONObject = ["account": .uuid(account)]
            fields["next"] = next.map { .uuid($0) }
            return fields
        case .codeIssued(let code):
            var fields = code.person.fields
            fields["otp"] = .uuid(code.id)
            fields["purpose"] = .string(code.purpose.rawValue)
            fields["digest"] = .string(code.digest.base64URL)
            fields["app"] = code.app.map { .uuid($0) }
            fields["issued_at"] = .integer(code.issuedAt.seconds)
            fields["expires_at"] = .integer(code.expiresAt.seconds)
            fields["base"] = code.base.map { .string($0) }
            fields["account"] = code.account.map { .uuid($0) }
            fields["source"] = code.source.map { .string($0) }
            fields["repeats"] = code.repeated.map { .uuid($0) }
            if code.channel != .mail { fields["channel"] = .string(code.channel.rawValue) }
            fields.setGeneration(code.generation)
            return fields
        case .codeRenamed(let id, let person, let source):
            var fields = person.fields
            fields["otp"] = .uuid(id)
            fields["source"] = source.map { .string($0) }
            return fields
        case .codeRefused(let id, let at):
            return ["otp": .uuid(id), "refused_at": .integer(at.seconds)]
        case .codeConfirmed(let id), .codeRedeemed(let id): return ["otp": .uuid(id)]
        case .invited(let invitation): return invitation.fields
        case .linkIssued(let link): return link.fields
        case .linkRedeemed(let id): return ["link": .uuid(id)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "mailbox.assigned", "mailbox.released":
            guard let account = fields.uuid("account") else { return nil }
            self =
                name == "mailbox.assigned"
                ? .assigned(account) : .released(account, next: fields.uuid("next"))
        case "otp.issued":
            guard let id = fields.uuid("otp"), let digest = fields.digest("digest"),
                let purpose: IssuedCode.Purpose = fields.choice("purpose"),
                let issuedAt = fields.instant("issued_at"),
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            var code = IssuedCode(
                id: id, purpose: purpose, digest: digest, app: fields.uuid("app"),
                issuedAt: issuedAt, expiresAt: expiresAt, person: Person(fields: fields))
            code.base = fields["base"]?.string
            code.account = fields.uuid("account")
            code.source = fields["source"]?.string
            code.generation = fields.generation
            code.channel = fields.choice("channel") ?? .mail
            code.repeated = fields.uuid("repeats")
            self = .codeIssued(code)
        case "otp.renamed":
            guard let id = fields.uuid("otp") else { return nil }
            self = .codeRenamed(id, Person(fields: fields), source: fields["source"]?.string)
        case "otp.refused":
            guard let id = fields.uuid("otp"), let at = fields.instant("refused_at") else {
                return nil
            }
            self = .codeRefused(id, at: at)
        case "otp.confirmed":
            guard let id = fields.uuid("otp") else { return nil }
            self = .codeConfirmed(id)
        case "otp.redeemed":
            guard let id = fields.uuid("otp") else { return nil }
            self = .codeRedeemed(id)
        case "mailbox.invited":
            guard let invitation = Invitation(fields: fields) else { return nil }
            self = .invited(invitation)
        case "link.issued":
            guard let link = IssuedLink(fields: fields) else { return nil }
            self = .linkIssued(link)
        case "link.redeemed":
            guard let id = fields.uuid("link") else { return nil }
            self = .linkRedeemed(id)
        default: return nil
        }
    }
}
