internal import EventSourcing
public import Values

/// A link to sign in by, as the log knows it. Its token follows from the id under the realm's key,
/// so that the mailer needs no copy of it.
public struct IssuedLink: Sendable, Equatable {
    public let id: UUID
    /// The account that the link signs in.
    public let account: UUID
    /// A keyed digest of the token.
    public let digest: SecretDigest
    public let app: UUID?
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
    /// What the link begins with, as it is set up for where it was asked for.
    public let base: String
    /// The path that the link leads on to.
    public let returnPath: ReturnPath?
    /// The mail that brings it.
    public let mail: UUID
    /// The person that the link is mailed to.
    public let person: Person
    /// Of the account's proofs, as it was then.
    public var generation: Int

    public init(
        id: UUID, account: UUID, digest: SecretDigest, app: UUID?, issuedAt: Timestamp,
        expiresAt: Timestamp, base: String, returnPath: ReturnPath?, mail: UUID, person: Person,
        generation: Int = 0
    ) {
        self.generation = generation
        self.id = id
        self.account = account
        self.digest = digest
        self.app = app
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.base = base
        self.returnPath = returnPath
        self.mail = mail
        self.person = person
    }

    /// Whether a bearer of the link can redeem it now.
    public func isLive(of account: Account, at now: Timestamp) -> Bool {
        now < expiresAt && generation == account.proofGeneration
    }
}

extension Field<IssuedLink> {
    static let issuedLink = record(
        .link, .account, .codeDigest, .optional(.app), .issuedAt, .expiresAt, .linkBase,
        // Personal: it tells what the person was about to look at.
        .optional(.returnPath), .uuid("mail", "Mail that carries the link."), .person, .generation,
        make: {
            IssuedLink(
                id: $0, account: $1, digest: $2, app: $3, issuedAt: $4, expiresAt: $5, base: $6,
                returnPath: $7, mail: $8, person: $9, generation: $10)
        },
        take: {
            (
                $0.id, $0.account, $0.digest, $0.app, $0.issuedAt, $0.expiresAt, $0.base,
                $0.returnPath, $0.mail, $0.person, $0.generation
            )
        })
}

extension Field<UUID> {
    static let link = uuid("link", "Name of the link.")
}
