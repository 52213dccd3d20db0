public import EventSourcing
public import JSON
public import Values

/// Those whose word a realm takes on who is there: OpenID providers, by the names that it has for them.
public struct Providers: StreamState {
    /// In the order of their names.
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
    /// For people.
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

public enum ProviderEvent: Event {
    case configured(Provider)
    case removed(String)

    public static let catalogue: [EventShape] = [
        EventShape(
            "provider.configured", .audit, "An identity provider was configured.",
            [
                .provider,
                .text("name", "Name of the provider that people see."),
                .text("issuer", "Issuer identifier of the provider."),
                .text("client_id", "Client identifier of the realm at the provider."),
                .texts("scope", "Scopes that are asked for beside openid."),
                .flag("takes_access_tokens", "Whether apps may show the provider's access tokens."),
                .text(
                    "secret", "Client secret of the realm at the provider.", .neverLeaves(.sealed)
                ).optional,
            ]),
        EventShape("provider.removed", .audit, "The identity provider was removed.", [.provider]),
    ]

    public var name: String {
        switch self {
        case .configured: "provider.configured"
        case .removed: "provider.removed"
        }
    }

    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .configured(let provider):
            var fields: JSONObject = [
                "provider": .string(provider.slug), "name": .string(provider.name),
                "issuer": .string(provider.issuer), "client_id": .string(provider.clientID),
                "scope": .texts(provider.scope),
                "takes_access_tokens": .bool(provider.takesAccessTokens),
            ]
            fields["secret"] = provider.secret.map { .string($0) }
            return fields
        case .removed(let slug): return ["provider": .string(slug)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let slug = fields["provider"]?.string else { return nil }
        switch name {
        case "provider.configured":
            guard let label = fields["name"]?.string, let issuer = fields["issuer"]?.string,
                let clientID = fields["client_id"]?.string, let scope = fields.texts("scope"),
                let takesAccessTokens = fields["takes_access_tokens"]?.bool
            else { return nil }
            self = .configured(
                Provider(
                    slug: slug, name: label, issuer: issuer, clientID: clientID,
                    secret: fields["secret"]?.string, scope: scope,
                    takesAccessTokens: takesAccessTokens))
        case "provider.removed": self = .removed(slug)
        default: return nil
        }
    }
}
