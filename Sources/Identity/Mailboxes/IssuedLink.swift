internal import JSON
public import Values

/// A link to sign in by, as the log knows it. Its token follows from the id under the realm's key,
/// so that the mailer needs no copy of it.
public struct IssuedLink: Sendable, Equatable {
    public let id: UUID
    /// Whom it signs in.
    public let account: UUID
    /// A keyed digest of the token.
    public let digest: SecretDigest
    public let app: UUID?
    public let issuedAt: Timestamp
    public let expiresAt: Timestamp
    /// What the link begins with, as it is set up for where it was asked for.
    public let base: String
    /// Where it leads on to.
    public let returnPath: ReturnPath?
    /// The mail that brings it.
    public let mail: UUID
    /// To whom it is mailed.
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

    var fields: JSONObject {
        var fields = person.fields
        fields["link"] = .uuid(id)
        fields["account"] = .uuid(account)
        fields["digest"] = .string(digest.base64URL)
        fields["app"] = app.map { .uuid($0) }
        fields["issued_at"] = .integer(issuedAt.seconds)
        fields["expires_at"] = .integer(expiresAt.seconds)
        fields["base"] = .string(base)
        fields["return_path"] = returnPath.map { .string($0.text) }
        fields["mail"] = .uuid(mail)
        fields.setGeneration(generation)
        return fields
    }

    init?(fields: JSONObject) {
        guard let id = fields.uuid("link"), let account = fields.uuid("account"),
            let digest = fields.digest("digest"), let issuedAt = fields.instant("issued_at"),
            let expiresAt = fields.instant("expires_at"), let base = fields["base"]?.string,
            let mail = fields.uuid("mail")
        else { return nil }
        self.init(
            id: id, account: account, digest: digest, app: fields.uuid("app"),
            issuedAt: issuedAt, expiresAt: expiresAt, base: base,
            returnPath: fields["return_path"]?.string.flatMap { ReturnPath($0) }, mail: mail,
            person: Person(fields: fields), generation: fields.generation)
    }

    /// Whether a bearer of the link can redeem it now.
    public func isLive(of account: Account, at now: Timestamp) -> Bool {
        now < expiresAt && generation == account.proofGeneration
    }
}
