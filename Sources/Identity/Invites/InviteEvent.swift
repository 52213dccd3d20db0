public import EventSourcing
public import JSON
public import Values

/// What happens to an invite. Nothing of it is personal: a mailbox is a name that only the realm's key
/// leads to.
public enum InviteEvent: Event {
    case created(InviteTerms)
    /// A person with this mailbox used it: it admits no other mailbox.
    case used(mailbox: UUID, at: Timestamp)
    case revoked

    public static let catalogue: [EventShape] = [
        EventShape(
            "invite.created", .audit, "An invite was created.",
            [
                .app, .uuid("mailbox", "The only mailbox that may use it.").optional, .expiresAt,
            ]),
        EventShape(
            "invite.used", .audit, "A person used the invite.",
            [
                .uuid("mailbox", "Mailbox that used it."), .time("used_at", "When it was used."),
            ]),
        EventShape("invite.revoked", .audit, "The invite was revoked."),
    ]

    public var name: String {
        switch self {
        case .created: "invite.created"
        case .used: "invite.used"
        case .revoked: "invite.revoked"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .created(let terms):
            var fields: JSONObject = ["expires_at": .integer(terms.expiresAt.seconds)]
            fields["app"] = terms.app.map { .uuid($0) }
            fields["mailbox"] = terms.mailbox.map { .uuid($0) }
            return fields
        case .used(let mailbox, let at):
            return ["mailbox": .uuid(mailbox), "used_at": .integer(at.seconds)]
        case .revoked: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "invite.created":
            guard let expiresAt = fields.instant("expires_at") else { return nil }
            self = .created(
                InviteTerms(
                    app: fields.uuid("app"), mailbox: fields.uuid("mailbox"),
                    expiresAt: expiresAt))
        case "invite.used":
            guard let mailbox = fields.uuid("mailbox"), let at = fields.instant("used_at") else {
                return nil
            }
            self = .used(mailbox: mailbox, at: at)
        case "invite.revoked": self = .revoked
        default: return nil
        }
    }
}
