public import EventSourcing
public import JSON
public import Postgres
public import Values

/// Each realm's state and settings, as fresh as the log.
public struct Realms: Sendable {
    public struct Entry: Sendable, Equatable {
        public let realm: RealmID
        public let isDisabled: Bool
        /// Those that were set; the display name is always among them.
        public let settings: JSONObject
        public let createdAt: Timestamp
        public let changedAt: Timestamp
        public let version: Int
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Nil where no such realm was created.
    public func find(_ realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            finding, Parameters(realm: realm.name), from: database, Entry.init
        ).first
    }

    /// In the order of their names, from behind `after` on.
    public func page(after: String? = nil, limit: Int) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: after ?? "")
        parameters.add(Int64(limit))
        return try await CurrentRows.read(listing, parameters, from: database, Entry.init)
    }
}

extension Realms.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let realm = RealmID(rows.text(row, 1)), let settings = rows.object(row, 3) else {
            return nil
        }
        self.init(
            realm: realm, isDisabled: rows.bool(row, 2), settings: settings,
            createdAt: rows.instant(row, 4), changedAt: rows.instant(row, 5),
            version: Int(rows.int32(row, 6)))
    }
}

private let columns = """
    r.realm, r.disabled, r.settings::text, r.created_at, r.changed_at, r.version
    """

private let finding = Statement(
    "realm_by_name",
    """
    select p.current, \(columns)
    from urd.realms_position p left join urd.realms r on r.realm = $1
    where p.realm = $1
    """)
/// Every row that is given is current by itself: realms have no order among each other.
private let listing = Statement(
    "realm_page",
    """
    select (select p.current from urd.realms_position p where p.realm = r.realm), \(columns)
    from urd.realms r where r.realm > $1 order by r.realm limit $2
    """)
