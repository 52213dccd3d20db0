public import EventSourcing
public import Identity
internal import JSON
internal import Postgres
public import Values

/// A web app or a konnector of a realm.
public struct WebAppView: Sendable, Equatable {
    public var id: UUID
    /// As its last event has it.
    public var card: WebAppCard
    public var createdAt: Timestamp

    public init(id: UUID, card: WebAppCard, createdAt: Timestamp) {
        self.id = id
        self.card = card
        self.createdAt = createdAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let card = rows.object(row, 2).flatMap(WebAppCard.init(recorded:)) else {
            return nil
        }
        self.init(id: rows.identifier(row, 1), card: card, createdAt: rows.instant(row, 3))
    }
}

extension ReadModelQueries {
    /// Removed web apps are not found.
    public func webApp(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> WebAppView? {
        try await row(byID, Parameters(in: realm, id))
    }

    public func webApp(
        slug: String, kind: WebAppKind, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        var parameters = Parameters(in: realm, slug)
        parameters.add(kind.rawValue)
        return try await row(bySlug, parameters)
    }

    /// By the host of its origin, with its port if that is not the usual one.
    public func webApp(
        originHost host: String, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try await row(byOrigin, Parameters(in: realm, host))
    }

    public func webApps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<WebAppView> {
        try await list(page, Parameters(in: realm, after: after, limit: limit))
    }
}

private let columns = Columns(
    of: "web_apps", key: "web_app", "m.card, m.registered_at", WebAppView.init(_:_:))
private let byID = columns.find("web_app_by_id", where: "m.web_app = $2")
private let bySlug = columns.find("web_app_by_slug", where: "m.slug = $2 and m.kind = $3")
private let byOrigin = columns.find("web_app_by_origin", where: "m.origin_host = $2")
private let page = columns.page("web_app_page")
