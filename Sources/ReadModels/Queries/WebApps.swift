public import EventSourcing
public import JSON
public import Postgres
public import Values

/// The web apps and konnectors of a realm, as fresh as the log.
public struct WebApps: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        /// As its last event has it.
        public let card: JSONObject
        public let registeredAt: Timestamp
        public let changedAt: Timestamp
        /// Of its stream.
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

    public func find(
        slug: String, kind: String, in realm: RealmID
    ) async throws(ReadFailure) -> Entry? {
        var parameters = Parameters(realm: realm.name)
        parameters.add(slug)
        parameters.add(kind)
        return try await CurrentRows.read(findingBySlug, parameters, from: database, Entry.init)
            .first
    }

    /// By the host and port of its origin.
    public func find(originHost host: String, in realm: RealmID) async throws(ReadFailure) -> Entry?
    {
        try await CurrentRows.read(
            findingByOrigin, Parameters(in: realm, host), from: database, Entry.init
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

extension WebApps.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let card = rows.object(row, 2) else { return nil }
        self.init(
            id: rows.identifier(row, 1), card: card, registeredAt: rows.instant(row, 3),
            changedAt: rows.instant(row, 4), version: Int(rows.int32(row, 5)))
    }
}

private let columns = "w.web_app, w.card, w.registered_at, w.changed_at, w.version"

private let finding = Statement(
    "web_app_by_id",
    """
    select p.current, \(columns)
    from urd.web_apps_position p
    left join urd.web_apps w on w.realm = $1 and w.web_app = $2
    where p.realm = $1
    """)
private let findingBySlug = Statement(
    "web_app_by_slug",
    """
    select p.current, \(columns)
    from urd.web_apps_position p
    left join urd.web_apps w on w.realm = $1 and w.slug = $2 and w.kind = $3
    where p.realm = $1
    """)
private let findingByOrigin = Statement(
    "web_app_by_origin",
    """
    select p.current, \(columns)
    from urd.web_apps_position p
    left join urd.web_apps w on w.realm = $1 and w.origin_host = $2
    where p.realm = $1
    """)
private let listing = Statement(
    "web_app_page",
    """
    select p.current, \(columns)
    from urd.web_apps_position p
    left join lateral (
        select * from urd.web_apps w where w.realm = $1 and w.web_app > $2
        order by w.web_app limit $3
    ) w on true
    where p.realm = $1 order by w.web_app
    """)
