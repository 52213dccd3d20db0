public import EventSourcing
public import HTTP
internal import Identity
internal import ReadModels
internal import Synchronization
internal import Values

/// Finds the realm and the app that a request is for.
///
/// The directory of hosts decides: a host that was assigned leads to its realm, and a sub-domain
/// of one leads to that realm's app of this slug, if the host is the realm's primary domain. A
/// realm can't call a domain its own that it was not given.
public struct Places: Sendable {
    /// What names the realms of this server in tokens.
    public typealias Issuers = @Sendable () async throws(LogFailure) -> [String]

    private let queries: any HostQueries
    private let forwarding: Forwarding
    private let issuers: Issuers?
    private let leads: RevisionCache<RequestHost, HostTarget?>

    /// `capacity`: how many hosts are kept, those that lead nowhere included. `issuers`: what the refusal of a
    /// request to an unknown host names; nil on a server with several tenants, which names none.
    public init(
        _ queries: any HostQueries, forwarding: Forwarding = Forwarding(), capacity: Int = 4096,
        issuers: Issuers? = nil
    ) {
        self.issuers = issuers
        self.queries = queries
        self.forwarding = forwarding
        leads = RevisionCache(capacity: capacity)
    }

    public func place(of request: Request) async throws(Problem) -> Place {
        let arrival = try forwarding.arrival(of: request)
        do throws(Problem) {
            guard let lead = try await lead(arrival.host) else { throw Problem(.unknownHost) }
            let ground = try ground(lead, try await tenancy(lead), arrival.scheme)
            return Place(
                ground: ground, address: arrival.address, certificate: arrival.certificate)
        } catch {
            guard error.kind == .unknownHost else { throw error }
            throw await unknownHost()
        }
    }

    private func unknownHost() async -> Problem {
        guard let known = try? await issuers?(), !known.isEmpty else {
            return Problem(.unknownHost)
        }
        return Problem(
            .unknownHost,
            "No realm answers at this host. The issuers here are \(known.joined(separator: ", ")).")
    }

    /// Nil where the host has to be looked up, or the request refused.
    func knownGround(of request: Request) -> HostConfiguration? {
        guard let arrival = try? forwarding.arrival(of: request),
            let lead = leads.known(arrival.host, at: queries.revision(of: .system)) ?? nil,
            let held = lead.tenancy.known(
                HostTarget.Nothing(), at: queries.revision(of: lead.realm))
        else { return nil }
        return try? ground(lead, held, arrival.scheme)
    }

    /// A realm as it is at none of its hosts: for who looks at it from within.
    func ground(of realm: RealmID) async throws(LogFailure) -> HostConfiguration? {
        guard let known = try await queries.ask(RealmView.byName, in: realm) else { return nil }
        let settings = Settings(overrides: known.settings)
        let issuer = Self.withoutSlash(settings[SettingCatalogue.linksBaseURL]) ?? ""
        return HostConfiguration(
            realm: realm, app: nil, webApp: nil, settings: settings, rates: .standard,
            issuer: issuer, links: issuer, host: "", seesCertificates: false)
    }

    private func ground(
        _ lead: HostTarget, _ held: HostTarget.Held, _ scheme: Scheme
    ) throws(Problem) -> HostConfiguration {
        guard held.exists else { throw Problem(.unknownHost) }
        guard !held.value.isDisabled else { throw Problem(.realmClosed) }
        return held.ground(scheme) { tenancy in
            lead.ground(tenancy, scheme, seesCertificates: forwarding.certificateHeader != nil)
        }
    }
}

/// Where a host leads to, before anything is known of what is there.
private final class HostTarget: Sendable {
    let realm: RealmID
    /// Whether the host name itself, or its parent domain, was assigned.
    let isAssigned: Bool
    /// The directory has it with its port.
    let hasPort: Bool
    let host: RequestHost
    private let ports: Set<UInt16>
    /// What holds there, as long as the realm is as it was when that was read.
    let tenancy = RevisionCache<Nothing, Held>(capacity: 1)

    struct Nothing: Hashable {}

    /// In one piece, for it is looked at by every request.
    final class Held: Sendable {
        let value: HostSettings
        /// A name under a realm's domain that belongs to no app does not exist.
        let exists: Bool
        private let grounds = Mutex<[(scheme: Scheme, ground: HostConfiguration)]>([])

        init(_ value: HostSettings, isAssigned: Bool) {
            self.value = value
            exists = value.exists && (isAssigned || value.app != nil || value.webApp != nil)
        }

        func ground(_ scheme: Scheme, _ make: (HostSettings) -> HostConfiguration)
            -> HostConfiguration
        {
            grounds.withLock { grounds in
                if let known = grounds.first(where: { $0.scheme == scheme }) { return known.ground }
                let ground = make(value)
                grounds.append((scheme, ground))
                return ground
            }
        }
    }

    init(
        realm: RealmID, isAssigned: Bool, hasPort: Bool, host: RequestHost, ports: Set<UInt16>
    ) {
        self.realm = realm
        self.isAssigned = isAssigned
        self.hasPort = hasPort
        self.host = host
        self.ports = ports
    }

    func ground(_ tenancy: HostSettings, _ scheme: Scheme, seesCertificates: Bool)
        -> HostConfiguration
    {
        let issuer = tenancy.realmLinks ?? base(of: host, scheme)
        let above = isAssigned ? nil : host.parent?.host
        return HostConfiguration(
            realm: realm, app: tenancy.app,
            webApp: tenancy.webApp.map { app in
                WebAppPlace(id: app, above: above.map { base(of: $0, scheme) })
            },
            settings: tenancy.settings, rates: tenancy.rates, issuer: issuer,
            links: tenancy.links ?? issuer, host: host.name, seesCertificates: seesCertificates)
    }

    /// A port stands in it where the directory has it, or this server was told that it is its own:
    /// else it is only what some client has written.
    private func base(of host: RequestHost, _ scheme: Scheme) -> String {
        let base = "\(scheme.rawValue)://\(host.name)"
        guard let port = host.port, port != scheme.port, hasPort || ports.contains(port)
        else { return base }
        return "\(base):\(port)"
    }
}

/// What holds at a host of a realm.
private struct HostSettings: Sendable {
    var exists = false
    var isDisabled = false
    var app: UUID?
    var webApp: UUID?
    var settings = Settings()
    /// Read once, and not for each request.
    var rates = RateTable.standard
    /// What is set for the realm, and what holds for the app.
    var realmLinks: String?
    var links: String?
}

extension Places {
    private func lead(_ host: RequestHost) async throws(Problem) -> HostTarget? {
        if let found = leads.known(host, at: queries.revision(of: .system)) { return found }
        let (queries, ports) = (queries, forwarding.ports)
        return try await reading { () throws(LogFailure) in
            try await leads.value(
                of: host, at: { queries.revision(of: .system) },
                read: { () throws(LogFailure) in
                    try await Self.look(for: host, in: queries, ports)
                })
        }
    }

    private static func look(
        for host: RequestHost, in queries: any HostQueries, _ ports: Set<UInt16>
    ) async throws(LogFailure) -> HostTarget? {
        let own = host.names.map { ($0, true) }
        let above = host.parent?.host.names.map { ($0, false) } ?? []
        for (name, isAssigned) in own + above {
            guard let realm = try await queries.ask(HostView.byName, name, in: .system)?.realm
            else { continue }
            // What belongs to no tenant has no face.
            guard realm != .system else { return nil }
            return HostTarget(
                realm: realm, isAssigned: isAssigned, hasPort: name.utf8.contains(0x3A),
                host: host, ports: ports)
        }
        return nil
    }

    private func tenancy(_ lead: HostTarget) async throws(Problem) -> HostTarget.Held {
        let revision = queries.revision(of: lead.realm)
        if let found = lead.tenancy.known(HostTarget.Nothing(), at: revision) { return found }
        let queries = queries
        return try await reading { () throws(LogFailure) in
            try await lead.tenancy.value(
                of: HostTarget.Nothing(), at: { queries.revision(of: lead.realm) },
                read: { () throws(LogFailure) in
                    HostTarget.Held(
                        try await Self.look(at: lead, in: queries), isAssigned: lead.isAssigned)
                })
        }
    }

    private static func look(
        at lead: HostTarget, in queries: any HostQueries
    ) async throws(LogFailure) -> HostSettings {
        guard let realm = try await queries.ask(RealmView.byName, in: lead.realm) else {
            return HostSettings()
        }
        var tenancy = HostSettings(
            exists: true, isDisabled: realm.isDisabled,
            settings: Settings(overrides: realm.settings))
        tenancy.realmLinks = withoutSlash(tenancy.settings[SettingCatalogue.linksBaseURL])
        if let slug = slug(lead.host, under: tenancy.settings[SettingCatalogue.primaryDomain]),
            let app = try await queries.ask(AppView.bySlug, slug, in: lead.realm)
        {
            tenancy.app = app.id
            tenancy.settings = tenancy.settings.overlaid(by: Settings(overrides: app.settings))
        }
        if tenancy.settings.rules.servesWebApps {
            tenancy.webApp = try await webApp(at: lead, in: queries)?.id
        }
        tenancy.rates = RateTable(tenancy.settings[SettingCatalogue.rateLimits])
        tenancy.links = withoutSlash(tenancy.settings[SettingCatalogue.linksBaseURL])
        return tenancy
    }

    /// Where a host was assigned, an app may call it its own; under one, each has its sub-domain.
    private static func webApp(
        at lead: HostTarget, in queries: any HostQueries
    ) async throws(LogFailure) -> WebAppView? {
        guard lead.isAssigned else {
            guard let label = lead.host.parent?.label else { return nil }
            return try await queries.ask(WebAppView.bySlug, (label, .app), in: lead.realm)
        }
        for name in lead.host.names {
            if let app = try await queries.ask(WebAppView.byOrigin, name, in: lead.realm) {
                return app
            }
        }
        return nil
    }

    private static func slug(_ host: RequestHost, under domain: String?) -> String? {
        guard let domain = domain.flatMap({ RequestHost($0) }), let (label, parent) = host.parent,
            parent.name == domain.name
        else { return nil }
        return label
    }

    private static func withoutSlash(_ address: String?) -> String? {
        guard let address else { return nil }
        let bytes = Array(address.utf8)
        let slashes = bytes.reversed().prefix { $0 == UInt8(ascii: "/") }.count
        return String(decoding: bytes.dropLast(slashes), as: UTF8.self)
    }
}
