internal import EventSourcing
internal import JSON
internal import Values

/// The fields that events of several kinds have.
extension EventField {
    static let webApp: EventField =
        .uuid("web_app", "Web app that it is limited to.").optional
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

extension Field<UUID> {
    static let account = uuid("account", "Account that the event is about.")
    static let client = uuid("client", "Client that the event is about.")
    static let app = uuid("app", "App of the realm that it belongs to.")
    static let notice = uuid("mail", "Mail that tells the person of it.")
}

extension Field<Timestamp> {
    static let issuedAt = time("issued_at", "When it was issued.")
    static let expiresAt = time("expires_at", "When it expires.")
    static let refusedAt = time("refused_at", "When the wrong value was typed.")
    static let until = time("until", "When it is tried again.")
}

extension Field<String> {
    static let clientID = text("client_id", "OAuth client identifier of the client.")
    static let linkBase = text("base", "Beginning of the link that the mail contains.")
    static let provider = text("provider", "Short name of the identity provider.")
}

extension Field<Int> {
    static let attempt = number("attempt", "Number of the delivery attempt.")
    static let generation = unless(
        0, .number("generation", "Generation of the account's mailed proofs, after the first."))
}

extension Field<SecretDigest> {
    /// Nobody is shown it.
    static func digest(_ name: String, _ sentence: String) -> Field {
        mapped(
            .text(name, .bytes, sentence, .neverLeaves(.plain)), write: \.base64URL,
            read: { SecretDigest(base64URL: $0) })
    }

    static let codeDigest = digest("digest", "Keyed digest of the code.")
}

extension Field<ReturnPath> {
    static let returnPath = mapped(
        .text("return_path", "Path that the link leads on to.", .personal(.person)),
        write: \.text, read: { ReturnPath($0) })
}

extension Field<SecurityStamp> {
    static let stamp = whole(
        [EventField.stamp, .moves, .removals],
        write: { stamp in
            var fields: JSONObject = [:]
            fields.setStamp(stamp)
            return fields
        }, read: \.stamp)
}

/// The same, of events that are not said by forms yet.
extension EventField {
    static let account = Field<UUID>.account.columns[0]
    static let client = Field<UUID>.client.columns[0]
    static let app = Field<UUID>.app.columns[0].optional
    static let clientID = Field<String>.clientID.columns[0]
    static let notice = Field<UUID>.notice.columns[0]
    static let issuedAt = Field<Timestamp>.issuedAt.columns[0]
    static let expiresAt = Field<Timestamp>.expiresAt.columns[0]
    static let refusedAt = Field<Timestamp>.refusedAt.columns[0]
    static let until = Field<Timestamp>.until.columns[0]
    static let linkBase = Field<String>.linkBase.columns[0]
    static let provider = Field<String>.provider.columns[0]
    static let attempt = Field<Int>.attempt.columns[0]
    static let generation = Field<Int>.generation.columns[0]
    static let codeDigest = Field<SecretDigest>.codeDigest.columns[0]
    static let returnPath = Field<ReturnPath>.returnPath.columns[0].optional
}
