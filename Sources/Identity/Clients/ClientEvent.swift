public import EventSourcing
public import JSON
public import Values

/// What happens to an OAuth client.
public enum ClientEvent: Event {
    case registered(clientID: String, metadata: ClientMetadata, secret: SecretDigest?)
    /// All of the metadata, as it is from now on.
    case updated(ClientMetadata)
    case secretRotated(SecretDigest)
    /// The first token or code of an installation was given.
    case adopted(atOnboarding: Bool)
    /// An installation showed that it is the genuine app. The attestation is the stream that says how.
    case certified(
        Certification, at: Timestamp, attestation: UUID?, notice: CertificationNotice? = nil)
    /// It is not believed to be the genuine app any more, until it shows that anew.
    case certificationRevoked(CertificationEnd, at: Timestamp)
    case disabled
    case enabled
    case deleted

    private static let secretDigest: EventField =
        .bytes("secret_digest", "Digest of the client secret.", .neverLeaves(.plain))
    private static let metadata: [EventField] =
        MetadataField.all.map(\.eventField) + [
            .flag("vouched_for", "Whether a software statement vouched for the client.").optional
        ]

    public static let catalogue: [EventShape] = [
        EventShape(
            "client.registered", .audit, "A client was registered.",
            [.clientID, secretDigest.optional], metadata),
        EventShape("client.updated", .audit, "The metadata of the client was replaced.", metadata),
        EventShape(
            "client.secret_rotated", .audit, "The client got another secret.", [secretDigest]),
        EventShape(
            "client.adopted", .audit, "The first token or code of the installation was issued.",
            [
                .flag("onboarding", "Whether it came with the onboarding of the owner.").optional
            ]),
        EventShape(
            "client.certified", .audit, "The installation proved that it is the genuine app.",
            [
                .choice("by", Certification.self, "What vouched for the installation."),
                .time("certified_at", "When it was certified."),
                .uuid("attestation", "Stream of the attestation.").optional,
                .uuid("account", "Account whose person is told.").optional,
                .text("name", "Name of the client in the mail.").optional,
                .notice.optional,
            ]),
        EventShape(
            "client.certification_revoked", .audit, "The installation lost its certification.",
            [
                .choice("reason", CertificationEnd.self, "Why it lost the certification."),
                .time("revoked_at", "When it lost the certification."),
            ]),
        EventShape("client.disabled", .audit, "The client was disabled."),
        EventShape("client.enabled", .audit, "The client was enabled again."),
        EventShape("client.deleted", .audit, "The client was deleted."),
    ]

    public var name: String {
        switch self {
        case .registered: "client.registered"
        case .updated: "client.updated"
        case .secretRotated: "client.secret_rotated"
        case .adopted: "client.adopted"
        case .certified: "client.certified"
        case .certificationRevoked: "client.certification_revoked"
        case .disabled: "client.disabled"
        case .enabled: "client.enabled"
        case .deleted: "client.deleted"
        }
    }

    public var subject: UUID? { nil }

    /// The people who answer for a client are known as part of it, and forgotten with it.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .registered(_, let metadata, _), .updated(let metadata):
            metadata.contacts.isEmpty && metadata.notificationToken == nil
                && metadata.softwareStatement == nil ? nil : stream
        case .secretRotated, .adopted, .certified, .certificationRevoked, .disabled, .enabled,
            .deleted:
            nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .registered(let clientID, let metadata, let secret):
            var fields = metadata.recorded
            fields["client_id"] = .string(clientID)
            fields["secret_digest"] = secret.map { .string($0.base64URL) }
            return fields
        case .updated(let metadata): return metadata.recorded
        case .secretRotated(let secret): return ["secret_digest": .string(secret.base64URL)]
        case .adopted(let atOnboarding): return ["onboarding": .bool(atOnboarding)]
        case .certified(let certification, let at, let attestation, let notice):
            var fields: JSONObject = [
                "by": .string(certification.rawValue), "certified_at": .integer(at.seconds),
            ]
            fields["attestation"] = attestation.map { .uuid($0) }
            fields["account"] = notice.map { .uuid($0.account) }
            fields["name"] = notice.map { .string($0.clientName) }
            fields["mail"] = notice.map { .uuid($0.mail) }
            return fields
        case .certificationRevoked(let reason, let at):
            return ["reason": .string(reason.rawValue), "revoked_at": .integer(at.seconds)]
        case .disabled, .enabled, .deleted: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "client.registered":
            guard let clientID = fields["client_id"]?.string,
                let metadata = ClientMetadata(recorded: fields)
            else { return nil }
            var secret: SecretDigest?
            if let digest = fields["secret_digest"] {
                secret = digest.string.flatMap(SecretDigest.init(base64URL:))
                guard secret != nil else { return nil }
            }
            self = .registered(clientID: clientID, metadata: metadata, secret: secret)
        case "client.updated":
            guard let metadata = ClientMetadata(recorded: fields) else { return nil }
            self = .updated(metadata)
        case "client.secret_rotated":
            guard let digest = fields["secret_digest"]?.string,
                let secret = SecretDigest(base64URL: digest)
            else { return nil }
            self = .secretRotated(secret)
        case "client.adopted":
            self = .adopted(atOnboarding: fields["onboarding"]?.bool ?? false)
        case "client.certified":
            guard let certification: Certification = fields.choice("by"),
                let at = fields.instant("certified_at")
            else { return nil }
            var notice: CertificationNotice?
            if let account = fields.uuid("account"), let name = fields["name"]?.string,
                let mail = fields.uuid("mail")
            {
                notice = CertificationNotice(account: account, clientName: name, mail: mail)
            }
            self = .certified(
                certification, at: at, attestation: fields.uuid("attestation"), notice: notice)
        case "client.certification_revoked":
            guard let reason: CertificationEnd = fields.choice("reason"),
                let at = fields.instant("revoked_at")
            else { return nil }
            self = .certificationRevoked(reason, at: at)
        case "client.disabled": self = .disabled
        case "client.enabled": self = .enabled
        case "client.deleted": self = .deleted
        default: return nil
        }
    }
}
