internal import EventSourcing

/// The fields that events of several kinds have.
extension EventField {
    static let account: EventField = .uuid("account", "Account that the event is about.")
    static let client: EventField = .uuid("client", "Client that the event is about.")
    static let clientID: EventField = .text("client_id", "OAuth client identifier of the client.")
    static let app: EventField = .uuid("app", "App of the realm that it belongs to.").optional
    static let webApp: EventField =
        .uuid("web_app", "Web app that it is limited to.").optional
    static let notice: EventField = .uuid("mail", "Mail that tells the person of it.")
    static let scope: EventField = .texts("scope", "Scopes that it covers.")
    static let resources: EventField = .texts("resources", "Resources that it covers (RFC 8707).")
    static let stamp: EventField =
        .integer("stamp", "Security stamp of the account at that time.")
    static let moves: EventField =
        .integer("moves", "How often the account had moved, if it had.")
        .optional
    static let removals: EventField =
        .integer("removals", "How often the account had removed access by then, if it had.")
        .optional
    static let factors: EventField = .choices(
        "amr", AuthenticationFactor.self, "How the person authenticated (names of RFC 8176).")
    static let generation: EventField =
        .integer("generation", "Generation of the account's mailed proofs, after the first.")
        .optional
    static let issuedAt: EventField = .time("issued_at", "When it was issued.")
    static let expiresAt: EventField = .time("expires_at", "When it expires.")
    static let refusedAt: EventField = .time("refused_at", "When the wrong value was typed.")
    static let linkBase: EventField = .text("base", "Beginning of the link that the mail contains.")
    static let codeDigest: EventField = .bytes(
        "digest", "Keyed digest of the code.", .neverLeaves(.plain))
    static let attempt: EventField = .integer("attempt", "Number of the delivery attempt.")
    static let until: EventField = .time("until", "When it is tried again.")
    static let provider: EventField = .text("provider", "Short name of the identity provider.")
    static let returnPath: EventField =
        .text("return_path", "Path that the link leads on to.", .personal(.person)).optional
}

extension SignInPlace {
    static let eventFields: [EventField] =
        [
            .text("source", "Pseudonym of the network that the request came from.").optional,
            .text("device", "Name of the device, as its user agent tells it.").optional,
        ] + GeoLocation.eventFields

    /// Where it was good.
    static let openedFields: [EventField] =
        eventFields + [
            .choice(
                "channel", Channel.self, "By what the code came that was typed, if to a phone."
            ).optional
        ]
}
