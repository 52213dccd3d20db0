public import EventSourcing
public import Identity
public import JSON
internal import Postgres
public import Values

/// An app of a realm.
public struct AppView: Sendable, Equatable {
    public var id: UUID
    public var slug: String
    public var name: String
    /// The settings that it has for itself, by name.
    public var settings: JSONObject
    public var createdAt: Timestamp

    public init(
        id: UUID, slug: String, name: String, settings: JSONObject, createdAt: Timestamp
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.settings = settings
        self.createdAt = createdAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let settings = rows.object(row, 4) else { return nil }
        self.init(
            id: rows.identifier(row, 1), slug: rows.text(row, 2), name: rows.text(row, 3),
            settings: settings, createdAt: rows.instant(row, 5))
    }
}

extension ReadModelQueries {
    public func app(_ app: UUID, in realm: RealmID) async throws(LogFailure) -> AppView? {
        try await row(byID, Parameters(in: realm, app))
    }

    /// By its sub-domain.
    public func app(slug: String, in realm: RealmID) async throws(LogFailure) -> AppView? {
        try await row(bySlug, Parameters(in: realm, slug))
    }

    public func apps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<AppView> {
        try await list(page, Parameters(in: realm, after: after, limit: limit))
    }

    /// What holds in an app: its own settings where it has some, else the realm's. Nil where there
    /// is no realm.
    public func settings(
        ofApp app: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Settings? {
        guard let tenant = try await self.realm(realm) else { return nil }
        let settings = Settings(overrides: tenant.settings)
        guard let face = try await self.app(app, in: realm) else { return settings }
        return settings.overlaid(by: Settings(overrides: face.settings))
    }
}

private let columns = Columns(
    of: "apps", key: "app", "m.slug, m.name, m.settings::text, m.created_at", AppView.init)
private let byID = columns.find("app_by_id", where: "m.app = $2")
private let bySlug = columns.find("app_by_slug", where: "m.slug = $2")
private let page = columns.page("app_page")
