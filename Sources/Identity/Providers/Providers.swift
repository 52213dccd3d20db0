public import EventSourcing
public import Values

/// Those whose word a realm takes on who is there: OpenID providers, by the names that it has for them.
public struct Providers: StreamState {
    /// The providers in the order of their names.
    public private(set) var all: [Provider] = []

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0005)
    static let most = 20

    public init() {}

    public mutating func apply(_ event: ProviderEvent) {
        switch event {
        case .configured(let provider):
            all.removeAll { $0.slug == provider.slug }
            all.append(provider)
            all.sort { $0.slug < $1.slug }
        case .removed(let slug): all.removeAll { $0.slug == slug }
        }
    }

    public subscript(slug: String) -> Provider? {
        all.first { $0.slug.utf8.elementsEqual(slug.utf8) }
    }
}

/// An OpenID provider, and who the realm is to it.
public struct Provider: Sendable, Equatable {
    /// Ours, for addresses.
    public var slug: String
    /// The display name of the provider.
    public var name: String
    public var issuer: String
    public var clientID: String
    /// Nil: the realm is a public client there, or the secret cannot be opened any more.
    public var secret: String?
    /// Beside `openid`.
    public var scope: [String]
    /// Whether apps may show its access tokens in the place of a code. An access token does not
    /// tell which client it was issued to.
    public var takesAccessTokens: Bool

    public init(
        slug: String, name: String, issuer: String, clientID: String, secret: String? = nil,
        scope: [String] = [], takesAccessTokens: Bool = false
    ) {
        self.slug = slug
        self.name = name
        self.issuer = issuer
        self.clientID = clientID
        self.secret = secret
        self.scope = scope
        self.takesAccessTokens = takesAccessTokens
    }
}

public enum ProviderEvent: FormedEvent {
    case configured(Provider)
    case removed(String)

    package enum Form {
        package static let configured = EventForm(
            "provider.configured", .audit, .administration(.configured),
            "An identity provider was configured.", .configured, make: ProviderEvent.configured)
        package static let removed = EventForm(
            "provider.removed", .audit, .administration(.removed),
            "The identity provider was removed.", .provider, make: ProviderEvent.removed)
    }

    public static let forms: EventForms<Self> = [Form.configured, Form.removed]

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .configured(let provider): Form.configured(provider)
        case .removed(let slug): Form.removed(slug)
        }
    }
}

extension Field<Provider> {
    fileprivate static let configured = record(
        .provider, .text("name", "Name of the provider that people see."),
        .text("issuer", "Issuer identifier of the provider."),
        .text("client_id", "Client identifier of the realm at the provider."),
        .optional(
            .text("secret", "Client secret of the realm at the provider.", .neverLeaves(.sealed))),
        .texts("scope", "Scopes that are asked for beside openid."),
        .flag("takes_access_tokens", "Whether apps may show the provider's access tokens."),
        make: {
            Provider(
                slug: $0, name: $1, issuer: $2, clientID: $3, secret: $4, scope: $5,
                takesAccessTokens: $6)
        },
        take: {
            (
                $0.slug, $0.name, $0.issuer, $0.clientID, $0.secret, $0.scope,
                $0.takesAccessTokens
            )
        })
}
