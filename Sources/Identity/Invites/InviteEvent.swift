public import EventSourcing
public import Values

/// What happens to an invite. Nothing of it is personal: a mailbox is a name that only the realm's key
/// leads to.
public enum InviteEvent: FormedEvent {
    case created(InviteTerms)
    /// A person with this mailbox used it: it admits no other mailbox.
    case used(mailbox: UUID, at: Timestamp)
    case revoked

    package enum Form {
        package static let created = EventForm(
            "invite.created", .audit, .administration(.created), "An invite was created.", .invite,
            make: InviteEvent.created)
        package static let used = EventForm(
            "invite.used", .audit, .object(.other), "A person used the invite.",
            .uuid("mailbox", "Mailbox that used it."), .time("used_at", "Time of use."),
            make: { InviteEvent.used(mailbox: $0, at: $1) })
        package static let revoked = EventForm(
            "invite.revoked", .audit, .administration(.removed), "The invite was revoked.",
            make: { InviteEvent.revoked })
    }

    public static let forms: EventForms<Self> = [Form.created, Form.used, Form.revoked]

    public var written: WrittenEvent {
        switch self {
        case .created(let terms): Form.created(terms)
        case .used(let mailbox, let at): Form.used(mailbox, at)
        case .revoked: Form.revoked()
        }
    }
}

extension Field<InviteTerms> {
    fileprivate static let invite = record(
        .optional(.app), .optional(.uuid("mailbox", "The only mailbox that may use it.")),
        .expiresAt,
        make: { InviteTerms(app: $0, mailbox: $1, expiresAt: $2) },
        take: { ($0.app, $0.mailbox, $0.expiresAt) })
}
