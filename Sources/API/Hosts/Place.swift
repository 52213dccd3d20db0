public import EventSourcing
public import Identity
public import Values

/// Where a request has come to: the realm and the app that its host leads to, and what holds there.
public struct Place: Sendable {
    public let realm: RealmID
    /// Where the host is an app's sub-domain.
    public let app: UUID?
    /// The app's own where it has some, else the realm's.
    public let settings: Settings
    /// How often what may be asked there.
    public let rates: RateTable
    /// What names the realm in tokens. Made of what is set, or of a host that somebody assigned.
    public let issuer: String
    /// What links in mails begin with: without a slash at the end.
    public let links: String
    /// The host that the request was for, as it is known: without an unusual port.
    public let host: String
    /// The address that the request came from, past trusted proxies.
    public var address: String
    /// The certificate that the sender has shown, as far as a trusted proxy tells.
    public let certificate: CertificateThumbprint?
    /// Whether one is there that tells.
    public let seesCertificates: Bool
    /// Where the host is a web app's: nothing but its page is there.
    public var webApp: WebAppPlace?

    public init(
        realm: RealmID, app: UUID?, settings: Settings, rates: RateTable = .standard,
        issuer: String, links: String, host: String, address: String,
        certificate: CertificateThumbprint? = nil, seesCertificates: Bool = false
    ) {
        self.certificate = certificate
        self.seesCertificates = seesCertificates
        self.rates = rates
        self.realm = realm
        self.app = app
        self.settings = settings
        self.issuer = issuer
        self.links = links
        self.host = host
        self.address = address
    }
}

extension Place {
    /// Where people are at home who were not sent here for anything else.
    var home: String? {
        webApp == nil && settings[SettingCatalogue.profile] == .standard
            ? OverviewRoutes.path : nil
    }
}

/// The place of a web app.
public struct WebAppPlace: Sendable, Hashable {
    public let id: UUID
    /// Of the host above it, without a slash at the end, where it is a sub-domain of one.
    public let above: String?

    public init(id: UUID, above: String?) {
        self.id = id
        self.above = above
    }
}
