public import EventSourcing
public import JSON

/// The public listener: the surfaces with their routes, and the document that is made from them.
public struct API: Sendable {
    /// What surfaces keep on a node and ask beside the log. Each is handed to its own surface, and no context knows it.
    /// A route whose service is missing answers 503.
    public struct Services: Sendable {
        public var feeds: Feeds?
        public var signals: SignalPages?
        public var registry: ServiceRegistry?
        public var webhooks: WebhookSource?
        public var logos: ClientLogos?

        public init() {}
    }

    /// What the token endpoint takes.
    let grants: GrantForms
    let surfaces: [any RealmSurface]

    public init(_ services: Services) {
        // What realms have. A new protocol is a folder, and a name here.
        let protocols: [any RealmSurface] = [
            NativeSurface(), SiteSurface(services.logos), FlagshipSurface(), VerifySurface(),
            FederationSurface(services.registry),
            WebAppSurface(),
            SignalsSurface(services.signals),
            ReceiptSurface(),
            ServiceFeedSurface(services.feeds),
            WebhookKeySurface(services.webhooks),
        ]
        let own = OAuthSurface.ownGrants()
        grants = GrantForms(own + protocols.flatMap { $0.grants })
        // Those that serve the token endpoint take the grants of all.
        surfaces = [OAuthSurface(own, grants), VooSurface(grants)] + protocols
    }

    /// The surfaces without services, for descriptions and lists of routes.
    static let described = API(Services())

    /// The admin API, and what is public.
    public static let table: [Route<AdminContext>] =
        PublicRoutes.table + AdminSurface().routes + SubscriptionSurface().routes
        + AnalysisSurface(version: version).routes + ConfigurationSurface().routes

    /// The tables of all surfaces of realms.
    public func tables(of realms: RealmContexts) -> [Router.Table] {
        tables(of: realms, applicationRequests: SealedRequests())
    }

    func tables(
        of realms: RealmContexts, applicationRequests: any ApplicationRequests
    ) -> [Router.Table] {
        var realms = realms
        realms.applicationRequests = applicationRequests
        return surfaces.map { realms.table(of: $0) }
            + [Router.Table(AssetRoutes.table, context: AssetContext())]
    }

    /// Which events ask for which mails.
    static let mails = MailRules(
        AccountMails.rules + ContactMails.rules + described.surfaces.flatMap { $0.mails })

    /// The names of all cookies that it sets.
    public static let cookies = PageCookie.allCases.map(\.rawValue)

    /// Every route of every table.
    static let outlines: [Outline] =
        table.map(\.outline) + described.surfaces.flatMap { $0.routes.map(\.outline) }

    public static let version = "0.1.0"

    /// The JSON Schema of configuration files.
    public static let configurationSchema = ConfigurationSchema.document

    /// The bytes of `/openapi.json`.
    public static let document: [UInt8] = OpenAPI.document(
        of: outlines, title: "Urd", version: version,
        description: """
            An identity backend in which the log is the state. Bodies are JSON and refusals are \
            problems (RFC 9457), but for what follows OAuth 2 or serves native apps, as is said \
            there. Members and parameters that are not described here are refused where nothing \
            else is said. A key that has no right to a realm gets 403 whether the realm exists or \
            not.
            """
    ).canonical()
}

extension MailComposer {
    /// - Parameter revision: what is in force is kept until this moves.
    public init(
        mint: @escaping RealmContexts.Mints, events: any EventLog,
        revision: @escaping TokenKeys.Revision, settings: @escaping SettingsInForce
    ) {
        self.init(
            rules: API.mails, mint: mint, events: events, revision: revision, settings: settings)
    }
}

extension Optional {
    /// A surface's service; 503 in a process that has none.
    var present: Wrapped {
        get throws(Problem) {
            guard let self else { throw Problem(.unavailable) }
            return self
        }
    }
}
