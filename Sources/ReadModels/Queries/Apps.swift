internal import EventSourcing
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

extension AppView {
    private static let columns = Columns(
        of: "apps", key: "app", "m.slug, m.name, m.settings::text, m.created_at", Self.init(_:_:))
    public static let byID: Question<UUID, AppView?> = columns.find(
        "app_by_id", where: "m.app = $2"
    ).first(Parameters.init)
    /// By its sub-domain.
    public static let bySlug: Question<String, AppView?> = columns.find(
        "app_by_slug", where: "m.slug = $2"
    ).first(Parameters.init)
    public static let page = columns.page("app_page").page()

    /// What holds in an app: its own settings where it has some, else the realm's. Nil where there
    /// is no realm.
    public static let settings = Question<UUID, Settings?>("app_settings") {
        models, realm, app throws(LogFailure) in
        guard let tenant = try await models.ask(RealmView.byName, in: realm) else { return nil }
        let settings = Settings(overrides: tenant.settings)
        guard let face = try await models.ask(byID, app, in: realm) else { return settings }
        return settings.overlaid(by: Settings(overrides: face.settings))
    }
}
