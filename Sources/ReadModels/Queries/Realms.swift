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

extension RealmView {
    /// Nil where no such realm was created. One that was, and whose log has no head any more, is damaged.
    public static let byName = Question<Void, RealmView?>("realm_by_name") {
        models, realm, _ throws(LogFailure) in
        let parameters = Parameters(realm: realm.name)
        if let view = try await models.rows(named, parameters).first { return view }
        let isLeft = try await models.rows(leftOver, parameters) { _, _ in true }
        if !isLeft.isEmpty { throw .damaged }
        return nil
    }

    /// All realms, in the order of their names.
    public static let page: Question<(after: String?, limit: Int), ListPage<RealmView>> =
        listing.page { _, asked in
            var parameters = Parameters(realm: asked.after ?? "")
            parameters.add(Int64(asked.limit))
            return parameters
        }
}

private let named = Columns(
    of: "realms", key: "realm", "m.disabled, m.settings::text, m.created_at",
    RealmView.init(_:_:)
).find("realm_by_name", where: "true")
private let leftOver = Statement(
    "realm_without_log", "select realm from urd.realms where realm = $1")
/// Every row that is given is current by itself: realms have no order among each other. How far the log is, is said of
/// the system's.
private let listing = RowQuery(
    "realm_page",
    """
    select coalesce(p.current, true), r.realm, r.disabled, r.settings::text, r.created_at,
        s.position, s.position
    from (select coalesce(max(h.position), 0) as position from urd.realm_log h
        where h.realm = '\(RealmID.system.name)') s
    left join lateral (
        select * from urd.realms m where m.realm > $1 order by m.realm limit $2) r on true
    left join urd.realms_position p on p.realm = r.realm
    order by r.realm
    """, RealmView.init(_:_:))
