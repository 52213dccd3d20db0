public import EventSourcing
public import JSON
public import Values

/// What came of a challenge that an installation was given.
public enum AttestationEvent: Event {
    /// A store vouched for it: for the app of this name.
    case accepted(installation: UUID, by: Certification, app: String)
    /// For the record, why not.
    case refused(installation: UUID, reason: String)

    public static let catalogue: [EventShape] = [
        EventShape(
            "attestation.accepted", .audit, "An app store vouched for the installation.",
            [
                .client,
                .choice("by", Certification.self, "What vouched for the installation."),
                .text("app", "Store identifier of the app that was vouched for."),
            ]),
        EventShape(
            "attestation.refused", .audit, "The attestation of the installation was refused.",
            [
                .client, .text("reason", "Why it was refused."),
            ]),
    ]

    public var name: String {
        switch self {
        case .accepted: "attestation.accepted"
        case .refused: "attestation.refused"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .accepted(let installation, let certification, let app):
            [
                "client": .uuid(installation), "by": .string(certification.rawValue),
                "app": .string(app),
            ]
        case .refused(let installation, let reason):
            ["client": .uuid(installation), "reason": .string(reason)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let installation = fields.uuid("client") else { return nil }
        switch name {
        case "attestation.accepted":
            guard let certification: Certification = fields.choice("by"),
                let app = fields["app"]?.string
            else { return nil }
            self = .accepted(installation: installation, by: certification, app: app)
        case "attestation.refused":
            guard let reason = fields["reason"]?.string else { return nil }
            self = .refused(installation: installation, reason: reason)
        default: return nil
        }
    }
}
