internal import EventSourcing
internal import JSON
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
    /// The message that tells the owner.
    public var mail: UUID

    public init(
        account: UUID, client: UUID?, relyingParty: String, key: CredentialRecord,
        enrolledAt: Timestamp, mail: UUID
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

extension EnrolledPasskey {
    static let counter: EventField = .integer("counter", "Signature counter of the authenticator.")
    static let backedUp: EventField = .flag("backed_up", "Whether it is backed up.")

    static let eventFields: [EventField] = [
        .account, .uuid("client", "Client that it was made in, if not on a page.").optional,
        .text("relying_party", "Domain that it belongs to (RP ID)."),
        .bytes("credential", "Credential ID."), .bytes("public_key", "Public key (COSE)."),
        counter, .flag("backup_eligible", "Whether it may be backed up."), backedUp,
        .flag("user_verified", "Whether the authenticator verified its user."),
        .uuid("model", "Model of the authenticator (AAGUID)."),
        .texts("transports", "Transports of the authenticator."),
        .text("format", "Format of the attestation."),
        .text("attestation", "Type of the attestation."),
        .flag("trusted", "Whether the attestation ends at a trusted root."),
        .time("enrolled_at", "When it was made."), .notice,
    ]

    var fields: JSONObject {
        var fields: JSONObject = [
            "account": .uuid(account), "relying_party": .string(relyingParty),
            "credential": .string(Base64URL.encode(key.id)),
            "public_key": .string(Base64URL.encode(key.publicKey)),
            "counter": .integer(key.counter), "backup_eligible": .bool(key.isBackupEligible),
            "backed_up": .bool(key.isBackedUp), "user_verified": .bool(key.isUserVerified),
            "model": .uuid(key.model), "transports": .texts(key.transports),
            "format": .string(key.format), "attestation": .string(key.attestation),
            "trusted": .bool(key.isTrusted), "enrolled_at": .integer(enrolledAt.seconds),
            "mail": .uuid(mail),
        ]
        fields["client"] = client.map { .uuid($0) }
        return fields
    }

    init?(recorded fields: JSONObject) {
        guard let account = fields.uuid("account"),
            let relyingParty = fields["relying_party"]?.string,
            let key = CredentialRecord(recorded: fields),
            let enrolledAt = fields.instant("enrolled_at"), let mail = fields.uuid("mail")
        else { return nil }
        self.init(
            account: account, client: fields.uuid("client"), relyingParty: relyingParty, key: key,
            enrolledAt: enrolledAt, mail: mail)
    }
}

extension CredentialRecord {
    fileprivate init?(recorded fields: JSONObject) {
        guard let id = fields["credential"]?.string.flatMap({ Base64URL.decode($0) }),
            let publicKey = fields["public_key"]?.string.flatMap({ Base64URL.decode($0) }),
            let counter = fields["counter"]?.integer,
            let isBackupEligible = fields["backup_eligible"]?.bool,
            let isBackedUp = fields["backed_up"]?.bool,
            let isUserVerified = fields["user_verified"]?.bool,
            let model = fields.uuid("model"), let transports = fields.texts("transports"),
            let format = fields["format"]?.string,
            let attestation = fields["attestation"]?.string,
            let isTrusted = fields["trusted"]?.bool
        else { return nil }
        self.init(
            id: id, publicKey: publicKey, counter: counter, isBackupEligible: isBackupEligible,
            isBackedUp: isBackedUp, isUserVerified: isUserVerified, model: model,
            transports: transports, format: format, attestation: attestation,
            isTrusted: isTrusted)
    }
}
