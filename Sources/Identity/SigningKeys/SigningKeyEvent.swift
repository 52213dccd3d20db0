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
public enum SigningKeyEvent: FormedEvent {
    /// The key is in the JWK set from now on; it signs no token yet.
    case published(NewSigningKey)
    /// The key signs.
    case activated(String)
    /// The key signs no token any more; tokens with its signature stay valid.
    case retired(String, at: Timestamp)
    /// The key is not needed any more.
    case removed(String)

    package enum Form {
        package static let published = EventForm(
            "signing_key.published", .audit, .administration(.created),
            "A signing key was published, and signs nothing yet.", .newKey,
            make: SigningKeyEvent.published)
        package static let activated = EventForm(
            "signing_key.activated", .audit, .administration(.activated),
            "Tokens are signed with the key from now on.", .kid, make: SigningKeyEvent.activated)
        package static let retired = EventForm(
            "signing_key.retired", .audit, .administration(.deactivated),
            "No token is signed with the key any more.", .kid,
            .time("retired_at", "Time at which the key was retired."), make: SigningKeyEvent.retired
        )
        package static let removed = EventForm(
            "signing_key.removed", .audit, .administration(.removed), "The key was removed.", .kid,
            make: SigningKeyEvent.removed)
    }

    public static let forms: EventForms<Self> = [
        Form.published, Form.activated, Form.retired, Form.removed,
    ]

    /// Not personal data, but sealed like it: private keys are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .published(let key): Form.published(key)
        case .activated(let id): Form.activated(id)
        case .retired(let id, let at): Form.retired(id, at)
        case .removed(let id): Form.removed(id)
        }
    }
}

extension Field<String> {
    fileprivate static let kid = text("kid", "Key identifier that tokens name.")
}

extension Field<NewSigningKey> {
    fileprivate static let newKey = record(
        .kid, .text("alg", "JOSE algorithm of the key."), .json("jwk", "Public key as a JWK."),
        .optional(.text("secret", .bytes, "Private key.", .neverLeaves(.sealed))),
        make: { NewSigningKey(id: $0, algorithm: $1, published: $2, secret: $3) },
        take: { ($0.id, $0.algorithm, $0.published, $0.secret) })
}
