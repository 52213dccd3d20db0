internal import EventSourcing
public import Values

/// A passkey as it was made. Nothing of it is secret, and nothing tells who its owner is.
public struct EnrolledPasskey: Sendable, Equatable {
    public var account: UUID
    /// The client that it was made in. Nil: a page.
    public var client: UUID?
    /// The domain that it belongs to (RP ID).
    public var relyingParty: String
    public var key: CredentialRecord
    public var enrolledAt: Timestamp
    /// The message that tells the owner. Nil: it was imported.
    public var mail: UUID?

    public init(
        account: UUID, client: UUID?, relyingParty: String, key: CredentialRecord,
        enrolledAt: Timestamp, mail: UUID?
    ) {
        self.account = account
        self.client = client
        self.relyingParty = relyingParty
        self.key = key
        self.enrolledAt = enrolledAt
        self.mail = mail
    }
}

/// What a verified registration says of a credential (WebAuthn Level 3, section 4, credential
/// record).
public struct CredentialRecord: Sendable, Equatable {
    public var id: [UInt8]
    /// COSE_Key, as the authenticator wrote it.
    public var publicKey: [UInt8]
    public var counter: Int64
    public var isBackupEligible: Bool
    public var isBackedUp: Bool
    /// Whether the authenticator knew its user then.
    public var isUserVerified: Bool
    /// The authenticator's model (AAGUID).
    public var model: UUID
    public var transports: [String]
    /// How the authenticator attested it, and whether the chain ends at a trusted root.
    public var format: String
    public var attestation: String
    public var isTrusted: Bool

    public init(
        id: [UInt8], publicKey: [UInt8], counter: Int64, isBackupEligible: Bool, isBackedUp: Bool,
        isUserVerified: Bool, model: UUID, transports: [String], format: String,
        attestation: String, isTrusted: Bool
    ) {
        self.id = id
        self.publicKey = publicKey
        self.counter = counter
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.isUserVerified = isUserVerified
        self.model = model
        self.transports = transports
        self.format = format
        self.attestation = attestation
        self.isTrusted = isTrusted
    }
}

extension Field<Int64> {
    static let counter = integer("counter", "Signature counter of the authenticator.")
}

extension Field<Bool> {
    static let backedUp = flag("backed_up", "Whether it is backed up.")
}

extension Field<EnrolledPasskey> {
    static let enrolled = record(
        .account, .optional(.uuid("client", "Client that it was made in, if not on a page.")),
        .text("relying_party", "Domain that it belongs to (RP ID)."), .credential,
        .time("enrolled_at", "Enrolment time."), .optional(.notice),
        make: {
            EnrolledPasskey(
                account: $0, client: $1, relyingParty: $2, key: $3, enrolledAt: $4, mail: $5)
        },
        take: { ($0.account, $0.client, $0.relyingParty, $0.key, $0.enrolledAt, $0.mail) })
}

extension Field<CredentialRecord> {
    fileprivate static let credential = record(
        .bytes("credential", "Credential ID."), .bytes("public_key", "Public key (COSE)."),
        .counter, .flag("backup_eligible", "Whether it may be backed up."), .backedUp,
        .flag("user_verified", "Whether the authenticator verified its user."),
        .uuid("model", "Model of the authenticator (AAGUID)."),
        .texts("transports", "Transports of the authenticator."),
        .text("format", "Format of the attestation."),
        .text("attestation", "Type of the attestation."),
        .flag("trusted", "Whether the attestation ends at a trusted root."),
        make: {
            CredentialRecord(
                id: $0, publicKey: $1, counter: $2, isBackupEligible: $3, isBackedUp: $4,
                isUserVerified: $5, model: $6, transports: $7, format: $8, attestation: $9,
                isTrusted: $10)
        },
        take: {
            (
                $0.id, $0.publicKey, $0.counter, $0.isBackupEligible, $0.isBackedUp,
                $0.isUserVerified, $0.model, $0.transports, $0.format, $0.attestation,
                $0.isTrusted
            )
        })
}
