public import EventSourcing
public import Values

/// What came of a challenge that an installation was given.
public enum AttestationEvent: FormedEvent {
    /// A store vouched for it: for the app of this name.
    case accepted(installation: UUID, by: Certification, app: String)
    /// For the record, why not.
    case refused(installation: UUID, reason: String)

    package enum Form {
        package static let accepted = EventForm(
            "attestation.accepted", .audit, .step(.passed),
            "An app store vouched for the installation.", .client,
            .choice("by", "What vouched for the installation."),
            .text("app", "Store identifier of the app that was vouched for."),
            make: AttestationEvent.accepted)
        package static let refused = EventForm(
            "attestation.refused", .audit, .step(.refused),
            "The attestation of the installation was refused.", .client,
            .text("reason", "Reason of the refusal."), make: AttestationEvent.refused)
    }

    public static let forms: EventForms<Self> = [Form.accepted, Form.refused]

    public var written: WrittenEvent {
        switch self {
        case .accepted(let installation, let certification, let app):
            Form.accepted(installation, certification, app)
        case .refused(let installation, let reason): Form.refused(installation, reason)
        }
    }
}
