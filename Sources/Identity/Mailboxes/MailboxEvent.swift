public import EventSourcing
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
        /// To set another PIN for a tenant's apps. It signs no person in.
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
    /// The recipient of the mail. Whose names an account has that is made by it: see `Mailbox.joiner`.
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
public enum MailboxEvent: FormedEvent {
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

    package enum Form {
        package static let assigned = EventForm(
            "mailbox.assigned", .internal, .detail, "An account holds the mailbox from now on.",
            .account, make: MailboxEvent.assigned)
        package static let released = EventForm(
            "mailbox.released", .internal, .detail, "The account gave the mailbox up.", .account,
            .optional(.uuid("next", "Subject of what is mailed to it from now on.")),
            make: MailboxEvent.released)
        package static let codeIssued = EventForm(
            "otp.issued", .audit, .step(.passed), "A one-time code was sent.", .issuedCode,
            make: MailboxEvent.codeIssued)
        package static let codeRenamed = EventForm(
            "otp.renamed", .internal, .detail, "The code was asked for again under other names.",
            .code, .person, .network, make: MailboxEvent.codeRenamed)
        package static let codeRefused = EventForm(
            "otp.refused", .audit, .step(.refused), "A wrong one-time code was typed.", .code,
            .refusedAt, make: MailboxEvent.codeRefused)
        package static let codeConfirmed = EventForm(
            "otp.confirmed", .audit, .object(.other), "The link of a one-time code was opened.",
            .code, make: MailboxEvent.codeConfirmed)
        package static let codeRedeemed = EventForm(
            "otp.redeemed", .internal, .detail, "The one-time code was redeemed.", .code,
            make: MailboxEvent.codeRedeemed)
        package static let invited = EventForm(
            "mailbox.invited", .internal, .detail, "An invite was used for the mailbox.",
            .invitation, make: MailboxEvent.invited)
        package static let linkIssued = EventForm(
            "link.issued", .audit, .step(.passed), "A magic link was mailed.", .issuedLink,
            make: MailboxEvent.linkIssued)
        package static let linkRedeemed = EventForm(
            "link.redeemed", .internal, .detail, "The magic link was redeemed.", .link,
            make: MailboxEvent.linkRedeemed)
    }

    public static let forms: EventForms<Self> = [
        Form.assigned, Form.released, Form.codeIssued, Form.codeRenamed, Form.codeRefused,
        Form.codeConfirmed, Form.codeRedeemed, Form.invited, Form.linkIssued, Form.linkRedeemed,
    ]

    /// Before there is an account, the mailbox is a subject of its own, until an account gives it up.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .assigned(let account): Form.assigned(account)
        case .released(let account, let next): Form.released(account, next)
        case .codeIssued(let code): Form.codeIssued(code)
        case .codeRenamed(let id, let person, let source): Form.codeRenamed(id, person, source)
        case .codeRefused(let id, let at): Form.codeRefused(id, at)
        case .codeConfirmed(let id): Form.codeConfirmed(id)
        case .codeRedeemed(let id): Form.codeRedeemed(id)
        case .invited(let invitation): Form.invited(invitation)
        case .linkIssued(let link): Form.linkIssued(link)
        case .linkRedeemed(let id): Form.linkRedeemed(id)
        }
    }
}

extension Field<UUID> {
    fileprivate static let code = uuid("otp", "Name of the code.")
}

extension Field<String?> {
    /// Anyone may type an address, which is mailed a code: the network need not be its reader's.
    fileprivate static let network = optional(
        .text(
            "source", .bytes, "Pseudonym of the network that asked for the code.",
            .personal(.administrators)))
}

extension Field<IssuedCode> {
    fileprivate static let issuedCode = record(
        .code, .choice("purpose", "What the code is for."), .codeDigest, .optional(.app), .issuedAt,
        .expiresAt, .person, .network,
        .unless(
            .mail, .choice("channel", "By what it was sent; by mail, if nothing is said.")),
        .optional(.linkBase),
        .optional(.uuid("account", "Account that moves to the mailbox by the code.")), .generation,
        .optional(
            .uuid("repeats", "The code that was sent once more, if it was another one's.")),
        make: {
            var code = IssuedCode(
                id: $0, purpose: $1, digest: $2, app: $3, issuedAt: $4, expiresAt: $5, person: $6)
            (code.source, code.channel, code.base) = ($7, $8, $9)
            (code.account, code.generation, code.repeated) = ($10, $11, $12)
            return code
        },
        take: {
            (
                $0.id, $0.purpose, $0.digest, $0.app, $0.issuedAt, $0.expiresAt, $0.person,
                $0.source, $0.channel, $0.base, $0.account, $0.generation, $0.repeated
            )
        })
}
