public import EventSourcing
public import JSON
public import Values

/// What happens to a token by which clients register themselves.
public enum RegistrationTokenEvent: Event {
    case created(RegistrationTerms)
    /// A client came by it.
    case used(client: UUID, at: Timestamp)
    case revoked

    public static let catalogue: [EventShape] = [
        EventShape(
            "registration_token.created", .audit, "A token for client registrations was created.",
            [
                .text("label", "What the administrator calls the token."),
                .integer("uses", "How many clients it may register."),
                .texts("scope", "Scopes that those clients may ask for."),
                .expiresAt,
            ]),
        EventShape(
            "registration_token.used", .audit, "A client was registered with the token.",
            [
                .uuid("client", "Client that was registered."),
                .time("used_at", "When it was registered."),
            ]),
        EventShape("registration_token.revoked", .audit, "The token was revoked."),
    ]

    public var name: String {
        switch self {
        case .created: "registration_token.created"
        case .used: "registration_token.used"
        case .revoked: "registration_token.revoked"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .created(let terms):
            [
                "label": .string(terms.label), "uses": .integer(Int64(terms.uses)),
                "scope": .texts(terms.scope), "expires_at": .integer(terms.expiresAt.seconds),
            ]
        case .used(let client, let at):
            ["client": .uuid(client), "used_at": .integer(at.seconds)]
        case .revoked: [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "registration_token.created":
            guard let label = fields["label"]?.string, let uses = fields["uses"]?.integer,
                let scope = fields.texts("scope"), let expiresAt = fields.instant("expires_at")
            else { return nil }
            self = .created(
                RegistrationTerms(
                    label: label, uses: Int(clamping: uses), scope: scope, expiresAt: expiresAt))
        case "registration_token.used":
            guard let client = fields.uuid("client"), let at = fields.instant("used_at") else {
                return nil
            }
            self = .used(client: client, at: at)
        case "registration_token.revoked": self = .revoked
        default: return nil
        }
    }
}
