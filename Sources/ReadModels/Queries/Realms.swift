public import EventSourcing
public import JSON
internal import Postgres
public import Values

/// A realm's state and settings.
public struct RealmView: Sendable, Equatable {
    public var realm: RealmID
    public var isDisabled: Bool
    /// The settings that were set, by name; the display name is always among them.
    public var settings: JSONObject
    public var createdAt: Timestamp

    public init(realm: RealmID, isDisabled: Bool, settings: JSONObject, createdAt: Timestamp) {
        self.realm = realm
        self.isDisabled = isDisabled
        self.settings = settings
        self.createdAt = createdAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let realm = RealmID(rows.text(row, 1)), let settings = rows.object(row, 3) else {
            return nil
        }
        self.init(
            realm: realm, isDisabled: rows.bool(row, 2), settings: settings,
            createdAt: rows.instant(row, 4))
    }
}

extension ReadModelQueries {
    /// Nil where no such realm was created.
    public func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView? {
        try await row(byName, Parameters(realm: realm.name))
    }

    /// In the order of their names.
    public func realms(after: String?, limit: Int) async throws(LogFailure) -> [RealmView] {
        var parameters = Parameters(realm: after ?? "")
        parameters.add(Int64(limit))
        return try await rows(page, parameters)
    }
}

private let byName = Columns(
    of: "realms", key: "realm", "m.disabled, m.settings::text, m.created_at",
    RealmView.init(_:_:)
).find("realm_by_name", where: "true")
/// Every row that is given is current by itself: realms have no order among each other.
private let page = Question(
    "realm_page",
    """
    select (select p.current from urd.realms_position p where p.realm = r.realm),
        r.realm, r.disabled, r.settings::text, r.created_at
    from urd.realms r where r.realm > $1 order by r.realm limit $2
    """, RealmView.init(_:_:))
