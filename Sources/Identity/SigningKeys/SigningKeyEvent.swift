public import EventSourcing
public import JSON
public import Values

/// A key that a realm signs tokens with, on its way into the log.
public struct NewSigningKey: Sendable, Equatable {
    /// The `kid` of its tokens.
    public let id: String
    /// As JOSE calls it.
    public let algorithm: String
    /// As a JWK, for everybody.
    public let published: JSON
    /// In base64url. Sealed in the log; nil where it cannot be opened any more.
    public let secret: String?

    public init(id: String, algorithm: String, published: JSON, secret: String?) {
        self.id = id
        self.algorithm = algorithm
        self.published = published
        self.secret = secret
    }
}

/// What happens to the keys that a realm signs tokens with.
public enum SigningKeyEvent: Event {
    /// Everybody may know it from now on; nothing is signed with it yet.
    case published(NewSigningKey)
    /// It signs.
    case activated(String)
    /// It signs nothing any more; what it signed is good while it lasts.
    case retired(String, at: Timestamp)
    /// The key is not needed any more.
    case removed(String)

    private static let kid: EventField = .text("kid", "Key identifier that tokens name.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "signing_key.published", .audit, "A signing key was published, and signs nothing yet.",
            [
                kid, .text("alg", "JOSE algorithm of the key."),
                .object("jwk", "Public key as a JWK."),
                .bytes("secret", "Private key.", .neverLeaves(.sealed)).optional,
            ]),
        EventShape(
            "signing_key.activated", .audit, "Tokens are signed with the key from now on.", [kid]),
        EventShape(
            "signing_key.retired", .audit, "No token is signed with the key any more.",
            [
                kid, .time("retired_at", "When it was retired."),
            ]),
        EventShape("signing_key.removed", .audit, "The key was removed.", [kid]),
    ]

    public var name: String {
        switch self {
        case .published: "signing_key.published"
        case .activated: "signing_key.activated"
        case .retired: "signing_key.retired"
        case .removed: "signing_key.removed"
        }
    }

    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: private keys are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .published(let key):
            var fields: JSONObject = [
                "kid": .string(key.id), "alg": .string(key.algorithm), "jwk": key.published,
            ]
            fields["secret"] = key.secret.map { .string($0) }
            return fields
        case .activated(let id), .removed(let id): return ["kid": .string(id)]
        case .retired(let id, let at):
            return ["kid": .string(id), "retired_at": .integer(at.seconds)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let id = fields["kid"]?.string else { return nil }
        switch name {
        case "signing_key.published":
            guard let algorithm = fields["alg"]?.string, let published = fields["jwk"] else {
                return nil
            }
            self = .published(
                NewSigningKey(
                    id: id, algorithm: algorithm, published: published,
                    secret: fields["secret"]?.string))
        case "signing_key.activated": self = .activated(id)
        case "signing_key.retired":
            guard let at = fields.instant("retired_at") else { return nil }
            self = .retired(id, at: at)
        case "signing_key.removed": self = .removed(id)
        default: return nil
        }
    }
}
