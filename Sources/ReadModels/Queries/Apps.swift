public import EventSourcing
public import JSON
public import Postgres
public import Values

/// The apps of a realm, as fresh as the log.
public struct Apps: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let slug: String
        public let name: String
        /// Those that it has for itself.
        public let settings: JSONObject
        public let createdAt: Timestamp
        public let changedAt: Timestamp
        /// Of the app's stream.
        public let version: Int
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    public func find(_ id: UUID, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            finding, Parameters(in: realm, id), from: database, Entry.init
        ).first
    }

    /// By its sub-domain.
    public func find(slug: String, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            findingBySlug, Parameters(in: realm, slug), from: database, Entry.init
        ).first
    }

    /// In the order of their ids, from behind `after` on.
    public func page(
        in realm: RealmID, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: realm, after: after, limit: limit), from: database, Entry.init)
    }
}

extension Apps.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let settings = rows.object(row, 4) else { return nil }
        self.init(
            id: rows.identifier(row, 1), slug: rows.text(row, 2), name: rows.text(row, 3),
            settings: settings, createdAt: rows.instant(row, 5), changedAt: rows.instant(row, 6),
            version: Int(rows.int32(row, 7)))
    }
}

private let columns = """
    a.app, a.slug, a.name, a.settings::text, a.created_at, a.changed_at, a.version
    """

private let finding = Statement(
    "app_by_id",
    """
    select p.current, \(columns)
    from urd.apps_position p
    left join urd.apps a on a.realm = $1 and a.app = $2
    where p.realm = $1
    """)
private let findingBySlug = Statement(
    "app_by_slug",
    """
    select p.current, \(columns)
    from urd.apps_position p
    left join urd.apps a on a.realm = $1 and a.slug = $2
    where p.realm = $1
    """)
private let listing = Statement(
    "app_page",
    """
    select p.current, \(columns)
    from urd.apps_position p
    left join lateral (
        select * from urd.apps a where a.realm = $1 and a.app > $2 order by a.app limit $3
    ) a on true
    where p.realm = $1 order by a.app
    """)
