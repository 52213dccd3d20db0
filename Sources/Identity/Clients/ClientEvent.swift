public import EventSourcing
public import Values

/// What happens to an OAuth client.
public enum ClientEvent: FormedEvent {
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

    package enum Form {
        package static let registered = EventForm(
            "client.registered", .audit, .administration(.created), "A client was registered.",
            .clientID, .metadata, .givenSecret, make: ClientEvent.registered)
        package static let updated = EventForm(
            "client.updated", .audit, .administration(.updated),
            "The metadata of the client was replaced.", .metadata, make: ClientEvent.updated)
        package static let secretRotated = EventForm(
            "client.secret_rotated", .audit, .administration(.updated),
            "The client got another secret.", .secretDigest, make: ClientEvent.secretRotated)
        package static let adopted = EventForm(
            "client.adopted", .audit, .deviceAdded,
            "The first token or code of the installation was issued.",
            .optional(.flag("onboarding", "Whether it came with the onboarding of the owner.")),
            make: { ClientEvent.adopted(atOnboarding: $0 ?? false) })
        package static let certified = EventForm(
            "client.certified", .audit, .deviceCertified,
            "The installation proved that it is the genuine app.",
            .choice("by", "What vouched for the installation."),
            .time("certified_at", "Certification time."),
            .optional(.uuid("attestation", "Stream of the attestation.")),
            .optional(.certificationNotice), make: ClientEvent.certified)
        package static let certificationRevoked = EventForm(
            "client.certification_revoked", .audit, .certificationRevoked,
            "The installation lost its certification.",
            .choice("reason", "Reason for which the certification was revoked."),
            .time("revoked_at", "Revocation time of the certification."),
            make: ClientEvent.certificationRevoked)
        package static let disabled = EventForm(
            "client.disabled", .audit, .administration(.disabled), "The client was disabled.",
            make: { ClientEvent.disabled })
        package static let enabled = EventForm(
            "client.enabled", .audit, .administration(.enabled), "The client was enabled again.",
            make: { ClientEvent.enabled })
        package static let deleted = EventForm(
            "client.deleted", .audit, .administration(.removed), "The client was deleted.",
            make: { ClientEvent.deleted })
    }

    public static let forms: EventForms<Self> = [
        Form.registered, Form.updated, Form.secretRotated, Form.adopted, Form.certified,
        Form.certificationRevoked, Form.disabled, Form.enabled, Form.deleted,
    ]

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

    public var written: WrittenEvent {
        switch self {
        case .registered(let clientID, let metadata, let secret):
            Form.registered(clientID, metadata, secret)
        case .updated(let metadata): Form.updated(metadata)
        case .secretRotated(let secret): Form.secretRotated(secret)
        case .adopted(let atOnboarding): Form.adopted(atOnboarding)
        case .certified(let certification, let at, let attestation, let notice):
            Form.certified(certification, at, attestation, notice)
        case .certificationRevoked(let reason, let at): Form.certificationRevoked(reason, at)
        case .disabled: Form.disabled()
        case .enabled: Form.enabled()
        case .deleted: Form.deleted()
        }
    }
}

extension Field<SecretDigest> {
    fileprivate static let secretDigest = digest(
        "secret_digest", "Digest of the client secret.")
}

extension Field<SecretDigest?> {
    fileprivate static let givenSecret = whereThere(.secretDigest, write: { $0 }, read: { $0 })
}

extension Field<ClientMetadata> {
    fileprivate static let metadata = whole(
        MetadataField.all.map(\.eventField) + [
            .flag("vouched_for", "Whether a software statement vouched for the client.").optional
        ], write: \.recorded, read: { ClientMetadata(recorded: $0) })
}

extension Field<CertificationNotice> {
    fileprivate static let certificationNotice = record(
        .uuid("account", "Account whose person is told."),
        .text("name", "Name of the client in the mail."), .notice,
        make: { CertificationNotice(account: $0, clientName: $1, mail: $2) },
        take: { ($0.account, $0.clientName, $0.mail) })
}
