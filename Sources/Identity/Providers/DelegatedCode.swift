public import EventSourcing
public import JSON
public import Values

/// A code that an app shows in the place of signing in: it stands for a person whom a provider
/// knows, and is single-use. A token that a provider signed for the app itself has a stream of this
/// kind as well, from when it was used.
public struct DelegatedCode: StreamState {
    public static let lifetime: Int64 = 3 * 3_600

    /// Nil until it was issued.
    public private(set) var terms: DelegatedCodeTerms?
    public private(set) var isUsed = false

    public init() {}

    public mutating func apply(_ event: DelegatedCodeEvent) {
        switch event {
        case .issued(let terms): self.terms = terms
        case .used: isUsed = true
        }
    }
}

public struct DelegatedCodeTerms: Sendable, Equatable {
    /// What follows from the provider's name for the person, and for their session there.
    public var identity: UUID
    public var upstream: UUID?
    /// Which is this.
    public var upstreamName: String?
    public var provider: String
    /// Of the account that the identity signed in at that time. Nil: of none yet.
    public var stamp: SecurityStamp?
    public var expiresAt: Timestamp

    public init(
        identity: UUID, upstream: UUID?, upstreamName: String? = nil, provider: String,
        expiresAt: Timestamp
    ) {
        self.identity = identity
        self.upstream = upstream
        self.upstreamName = upstreamName
        self.provider = provider
        self.expiresAt = expiresAt
    }

    /// Whether an account's events since then leave it good for an installation. What was issued for no account
    /// is of the stamp that accounts begin with, and so is what was issued before any carried one.
    func isKept(by account: Account, at installation: UUID?) -> Bool {
        account.keeps(stamp ?? 0, [.provider], at: [installation])
    }
}

public enum DelegatedCodeEvent: Event {
    case issued(DelegatedCodeTerms)
    /// It brought this installation in.
    case used(installation: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "delegated_code.issued", .internal,
            "A code was issued for a person whom a provider knows.",
            [
                .uuid("identity", "Identity of the person at the provider."),
                .uuid("upstream", "Session of the person at the provider.").optional,
                .provider, .expiresAt, InstallationUpstreamEvent.providerSession,
                .stamp.optional, .moves, .removals,
            ]),
        EventShape("delegated_code.used", .internal, "The code let an installation in.", [.client]),
    ]

    public var name: String {
        switch self {
        case .issued: "delegated_code.issued"
        case .used: "delegated_code.used"
        }
    }

    /// Sealed with the providers' secrets, because a provider may let anyone who knows it end the
    /// session.
    public var subject: UUID? { Providers.stream }

    public var fields: JSONObject {
        switch self {
        case .issued(let terms):
            var fields: JSONObject = [
                "identity": .uuid(terms.identity), "provider": .string(terms.provider),
                "expires_at": .integer(terms.expiresAt.seconds),
            ]
            fields["upstream"] = terms.upstream.map { .uuid($0) }
            fields["sid"] = terms.upstreamName.map { .string($0) }
            if let stamp = terms.stamp { fields.setStamp(stamp) }
            return fields
        case .used(let installation): return ["client": .uuid(installation)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "delegated_code.issued":
            guard let identity = fields.uuid("identity"),
                let provider = fields["provider"]?.string,
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            var terms = DelegatedCodeTerms(
                identity: identity, upstream: fields.uuid("upstream"),
                upstreamName: fields["sid"]?.string, provider: provider, expiresAt: expiresAt)
            terms.stamp = fields.stamp
            self = .issued(terms)
        case "delegated_code.used":
            guard let installation = fields.uuid("client") else { return nil }
            self = .used(installation: installation)
        default: return nil
        }
    }
}
