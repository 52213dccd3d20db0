public import EventSourcing
public import Identity
public import Values

/// Where a request has come to: the realm and the app that its host leads to, what holds there, and who
/// has come.
@dynamicMemberLookup
public struct Place: Sendable {
    let ground: HostConfiguration
    /// The address that the request came from, past trusted proxies.
    public var address: String
    /// The certificate that the sender has shown, as far as a trusted proxy tells.
    public let certificate: CertificateThumbprint?

    @inline(__always)
    public subscript<Member>(dynamicMember member: KeyPath<HostConfiguration, Member>) -> Member {
        ground[keyPath: member]
    }
}

/// What all requests for a host have in common, until something changes there: in one piece, for it is
/// handed on with each of them.
public final class HostConfiguration: Sendable {
    public let realm: RealmID
    /// Where the host is an app's sub-domain.
    public let app: UUID?
    /// Where the host is a web app's: nothing but its page is there.
    public let webApp: WebAppPlace?
    /// The app's own where it has some, else the realm's.
    public let settings: Settings
    /// The rate limits of the place.
    public let rates: RateTable
    /// The realm's issuer in tokens. Made of what is set, or of an assigned host.
    public let issuer: String
    /// What links in mails begin with: without a slash at the end.
    public let links: String
    /// The host that the request was for, as it is known: without an unusual port.
    public let host: String
    /// Whether a proxy is there that tells of certificates.
    public let seesCertificates: Bool
    let responseCache = ResponseCache()

    init(
        realm: RealmID, app: UUID?, webApp: WebAppPlace?, settings: Settings, rates: RateTable,
        issuer: String, links: String, host: String, seesCertificates: Bool
    ) {
        self.realm = realm
        self.app = app
        self.webApp = webApp
        self.settings = settings
        self.rates = rates
        self.issuer = issuer
        self.links = links
        self.host = host
        self.seesCertificates = seesCertificates
    }
}

extension Place {
    /// The page of one's own account.
    static let accountPath = "/account"
    /// The token endpoint, which assertions may name as their audience.
    static let tokenPath = "/connect/token"
    /// Where users cancel the deletion of their account.
    static let keepPath = "/keep-account"

    /// What the link begins with in the mail that tells users of the deletion of their account.
    var keepBase: String { "\(ground.links)\(Self.keepPath)?token=" }

    /// Where people are at home who were not sent here for anything else.
    var home: String? {
        ground.webApp == nil ? ground.settings.rules.home : nil
    }
}

/// The place of a web app.
public struct WebAppPlace: Sendable, Hashable {
    /// The route of its first page.
    static let indexPath = "/apps/index"

    public let id: UUID
    /// Of the host above it, without a slash at the end, where it is a sub-domain of one.
    public let above: String?

    public init(id: UUID, above: String?) {
        self.id = id
        self.above = above
    }
}
