internal import JSON

/// The public listener: the tables of its routes, and the document that is made from them.
public enum API {
    /// What realms have. A new protocol is a folder, and a name here.
    static let surfaces: [any RealmSurface] = [
        OAuthSurface(), NativeSurface(), SiteSurface(), VooSurface(), FlagshipSurface(),
        WebAppSurface(),
    ]

    /// The admin API, and what everybody may see.
    public static let table: [Route<AdminContext>] = PublicRoutes.table + AdminSurface().routes

    /// The tables of all surfaces of realms.
    public static func tables(of realms: RealmContexts) -> [Router.Table] {
        tables(of: realms, applicationRequests: SealedRequests())
    }

    static func tables(
        of realms: RealmContexts, applicationRequests: any ApplicationRequests
    ) -> [Router.Table] {
        var realms = realms
        realms.applicationRequests = applicationRequests
        return surfaces.map { realms.table(of: $0) }
            + [Router.Table(AssetRoutes.table, context: AssetContext())]
    }

    /// The names of all cookies that it sets.
    public static let cookies = PageCookie.allCases.map(\.rawValue)

    /// Every route of every table.
    static let outlines: [Outline] =
        table.map(\.outline) + surfaces.flatMap { $0.routes.map(\.outline) }

    /// The bytes of `/openapi.json`.
    public static let document: [UInt8] = OpenAPI.document(
        of: outlines, title: "Urd", version: "0.1.0",
        description: """
            An identity backend in which the log is the state. Bodies are JSON and refusals are \
            problems (RFC 9457), but for what follows OAuth 2 or serves native apps, as is said \
            there. Members and parameters that are not described here are refused where nothing \
            else is said. A key that has no right to a realm gets 403 whether the realm exists or \
            not.
            """
    ).canonical()
}
