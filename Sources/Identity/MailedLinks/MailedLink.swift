public import EventSourcing
public import Values

/// The links that are good now for one purpose of one account. A request for another link ends none of them.
public struct MailedLink: StreamState {
    public enum Purpose: String, Sendable, CaseIterable {
        /// It signs a realm's owner in.
        case signIn = "sign_in"
        /// It lets its bearer set another passphrase.
        case passphraseReset = "passphrase_reset"
    }

    public static let lifetime: Int64 = 900

    /// Maximum number of valid links; above it no other link is mailed.
    static let most = 8

    /// The valid links, the newest last.
    private var live: [IssuedMailedLink] = []

    public init() {}

    /// Follows from the account, so that it needs no look-up.
    public static func stream(of account: UUID, _ purpose: Purpose) -> UUID {
        let mark: UInt64 =
            switch purpose {
            case .signIn: 0x0000_6D6C_0000_0000
            case .passphraseReset: 0x0000_6D70_0000_0000
            }
        return UUID(high: account.high, low: account.low ^ mark)
    }

    public mutating func apply(_ event: MailedLinkEvent) {
        switch event {
        case .issued(let link):
            live.removeAll { $0.expiresAt <= link.issuedAt || $0.generation != link.generation }
            live.append(link)
        // Its person was there: the others are of no use.
        case .used(let id): if holds(id) { live = [] }
        }
    }

    /// Whether this link is valid, and none of the links was used.
    public func holds(_ id: UUID) -> Bool { live.contains { $0.id == id } }

    /// The link of this name, while its account can use it.
    public func link(
        _ id: UUID, of account: Account, at now: Timestamp
    ) -> IssuedMailedLink? {
        live.first {
            $0.id == id && now < $0.expiresAt && $0.generation == account.proofGeneration
        }
    }

    /// Whether the account has the maximum number of valid links.
    func isFull(of account: Account, at now: Timestamp) -> Bool {
        live.count { now < $0.expiresAt && $0.generation == account.proofGeneration } >= Self.most
    }

    /// When the last link was mailed that is unused and still valid.
    func issuedAt(of account: Account) -> Timestamp? {
        live.last { $0.generation == account.proofGeneration }?.issuedAt
    }
}

public struct IssuedMailedLink: Sendable, Equatable {
    /// What is in the link follows from it under the realm's key. It is the name of its mail as well.
    public var id: UUID
    public var purpose: MailedLink.Purpose
    public var account: UUID
    /// The link without its last part, which only the mail contains.
    public var base: String
    /// The path that the link leads on to.
    public var returnPath: ReturnPath?
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp
    /// Of the account's proofs, as it was then.
    public var generation: Int

    public init(
        id: UUID, purpose: MailedLink.Purpose, account: UUID, base: String,
        returnPath: ReturnPath? = nil, issuedAt: Timestamp, generation: Int = 0
    ) {
        self.generation = generation
        self.id = id
        self.purpose = purpose
        self.account = account
        self.base = base
        self.returnPath = returnPath
        self.issuedAt = issuedAt
        expiresAt = issuedAt.adding(seconds: MailedLink.lifetime)
    }
}

public enum MailedLinkEvent: FormedEvent {
    case issued(IssuedMailedLink)
    case used(UUID)

    package enum Form {
        package static let issued = EventForm(
            "mailed_link.issued", .audit, .linkMailed, "A link was mailed to the account's person.",
            .issuedLink, make: MailedLinkEvent.issued)
        package static let used = EventForm(
            "mailed_link.used", .internal, .detail, "The mailed link was used.",
            .uuid("mail", "Mail that carried the link."), make: MailedLinkEvent.used)
    }

    public static let forms: EventForms<Self> = [Form.issued, Form.used]

    public var subject: UUID? {
        switch self {
        case .issued(let link): link.account
        case .used: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .issued(let link): Form.issued(link)
        case .used(let id): Form.used(id)
        }
    }
}

extension Field<IssuedMailedLink> {
    fileprivate static let issuedLink = record(
        .uuid("mail", "Mail that carries the link."), .choice("purpose", "What the link is for."),
        .account, .linkBase, .issuedAt, .expiresAt, .generation, .optional(.returnPath),
        make: {
            var link = IssuedMailedLink(
                id: $0, purpose: $1, account: $2, base: $3, returnPath: $7, issuedAt: $4,
                generation: $6)
            link.expiresAt = $5
            return link
        },
        take: {
            (
                $0.id, $0.purpose, $0.account, $0.base, $0.issuedAt, $0.expiresAt, $0.generation,
                $0.returnPath
            )
        })
}
