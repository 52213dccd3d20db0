internal import EventSourcing
internal import JSON
internal import Values

/// The fields that events of several kinds have.
extension Field<UUID> {
    static let account = uuid("account", "Account that the event is about.")
    static let client = uuid("client", "Client that the event is about.")
    static let app = uuid("app", "App of the realm that it belongs to.")
    static let webApp = uuid("web_app", "Web app that it is limited to.")
    static let notice = uuid("mail", "Mail that informs the person.")
}

extension Field<Timestamp> {
    static let issuedAt = time("issued_at", "Issue time.")
    static let expiresAt = time("expires_at", "Expiry time.")
    static let refusedAt = time("refused_at", "Time of the wrong input.")
    static let until = time("until", "Time of the next attempt.")
}

extension Field<String> {
    static let clientID = text("client_id", "OAuth client identifier of the client.")
    static let linkBase = text("base", "Beginning of the link that the mail contains.")
    static let provider = text("provider", "Short name of the identity provider.")
}

extension Field<[String]> {
    static let scope = texts("scope", "Scopes that it covers.")
    static let resources = texts("resources", "Resources that it covers (RFC 8707).")
}

extension Field<Int> {
    static let stampNumber = number("stamp", "Security stamp of the account at that time.")
    static let removals = unless(
        0,
        .number("removals", "Number of removals of access of the account at that time, if any."))
    static let attempt = number("attempt", "Number of the delivery attempt.")
    static let generation = unless(
        0, .number("generation", "Generation of the account's mailed proofs, after the first."))
}

extension Field<SecretDigest> {
    /// A digest, which is shown to no reader.
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
    static let stamp = record(
        .stampNumber,
        .unless(0, .number("moves", "Number of address changes of the account, if any.")),
        .removals, make: { SecurityStamp(number: $0, moves: $1, removals: $2) },
        take: { ($0.number, $0.moves, $0.removals) })
}

extension Field<[AuthenticationFactor]> {
    static let factors = choices("amr", "How the person authenticated (names of RFC 8176).")
}

extension Field {
    /// A list of members of an enumeration. Members that no longer exist are left out.
    static func choices<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ sentence: String
    ) -> Field where Value == [Choice] {
        .mapped(
            .texts(name, .choice(Choice.allCases.map(\.rawValue)), sentence),
            write: { $0.map(\.rawValue) }, read: { $0.compactMap(Choice.init(rawValue:)) })
    }
}

extension Field<SignInPlace> {
    static let place = record(
        .optional(.text("source", "Pseudonym of the network that the request came from.")),
        .optional(.text("device", "Name of the device, as its user agent tells it.")),
        .optional(.location), make: { SignInPlace(source: $0, device: $1, location: $2) },
        take: { ($0.source, $0.device, $0.location) })

    /// Where the session was opened, or the sign-in was tried.
    static let opened = record(
        .place,
        .optional(
            .choice("channel", "Channel of the typed code, if it was sent to a phone.")),
        make: {
            var place = $0
            place.channel = $1
            return place
        }, take: { ($0, $0.channel) })
}
