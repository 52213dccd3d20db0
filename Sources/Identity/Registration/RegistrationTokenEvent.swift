public import EventSourcing
public import Values

/// What happens to a token by which clients register themselves.
public enum RegistrationTokenEvent: FormedEvent {
    case created(RegistrationTerms)
    /// A client came by it.
    case used(client: UUID, at: Timestamp)
    case revoked

    package enum Form {
        package static let created = EventForm(
            "registration_token.created", .audit, .administration(.created),
            "A token for client registrations was created.", .registration,
            make: RegistrationTokenEvent.created)
        package static let used = EventForm(
            "registration_token.used", .audit, .object(.other),
            "A client was registered with the token.",
            .uuid("client", "Client that was registered."), .time("used_at", "Registration time."),
            make: RegistrationTokenEvent.used)
        package static let revoked = EventForm(
            "registration_token.revoked", .audit, .administration(.removed),
            "The token was revoked.",
            make: { RegistrationTokenEvent.revoked })
    }

    public static let forms: EventForms<Self> = [Form.created, Form.used, Form.revoked]

    public var written: WrittenEvent {
        switch self {
        case .created(let terms): Form.created(terms)
        case .used(let client, let at): Form.used(client, at)
        case .revoked: Form.revoked()
        }
    }
}

extension Field<RegistrationTerms> {
    fileprivate static let registration = record(
        .text("label", "Label of the token, for administrators."),
        .number("uses", "How many clients it may register."),
        .texts("scope", "Scopes that those clients may ask for."), .expiresAt,
        make: { RegistrationTerms(label: $0, uses: $1, scope: $2, expiresAt: $3) },
        take: { ($0.label, $0.uses, $0.scope, $0.expiresAt) })
}
