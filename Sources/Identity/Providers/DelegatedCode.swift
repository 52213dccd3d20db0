public import EventSourcing
public import Values

/// A code that an app shows in the place of signing in: it stands for a person whom a provider
/// knows, and is single-use. A token that a provider signed for the app itself has a stream of this
/// kind as well, from when it was used.
public struct DelegatedCode: StreamState {
    public static let lifetime: Int64 = 3 * 3_600

    /// Nil before the code was issued.
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
    /// The name of the session at the provider.
    public var upstreamName: String?
    public var provider: String
    /// Of the account that the identity signed in at that time. Nil for an identity without an account yet.
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
        account.keeps(stamp ?? 0, [.provider], at: [installation.map { .client($0) }])
    }
}

public enum DelegatedCodeEvent: FormedEvent {
    case issued(DelegatedCodeTerms)
    /// It brought this installation in.
    case used(installation: UUID)

    package enum Form {
        package static let issued = EventForm(
            "delegated_code.issued", .internal, .detail,
            "A code was issued for a person whom a provider knows.", .delegated,
            make: DelegatedCodeEvent.issued)
        package static let used = EventForm(
            "delegated_code.used", .internal, .detail, "The code let an installation in.", .client,
            make: DelegatedCodeEvent.used)
    }

    public static let forms: EventForms<Self> = [Form.issued, Form.used]

    /// Sealed with the providers' secrets, because a provider may let any caller who knows it end the
    /// session.
    public var subject: UUID? { Providers.stream }

    public var written: WrittenEvent {
        switch self {
        case .issued(let terms): Form.issued(terms)
        case .used(let installation): Form.used(installation)
        }
    }
}

extension Field<DelegatedCodeTerms> {
    fileprivate static let delegated = record(
        .uuid("identity", "Identity of the person at the provider."),
        .optional(.uuid("upstream", "Session of the person at the provider.")),
        .providerSession, .provider, .optional(.stamp), .expiresAt,
        make: {
            var terms = DelegatedCodeTerms(
                identity: $0, upstream: $1, upstreamName: $2, provider: $3, expiresAt: $5)
            terms.stamp = $4
            return terms
        },
        take: { ($0.identity, $0.upstream, $0.upstreamName, $0.provider, $0.stamp, $0.expiresAt) })
}
