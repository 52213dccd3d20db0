public import EventSourcing
public import Postgres
public import Values

/// The directory of hosts, as fresh as the log of the system realm.
public struct Hosts: Sendable {
    public struct Entry: Sendable, Equatable {
        /// The host's stream.
        public let id: UUID
        public let host: String
        /// The realm that it leads to.
        public let realm: RealmID
        public let assignedAt: Timestamp
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    public func find(_ host: String) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            finding, Parameters(in: .system, host), from: database, Entry.init
        ).first
    }

    /// The hosts that lead to a realm, in the order of their names, from behind `after` on.
    public func page(
        of realm: RealmID, after: String? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: RealmID.system.name)
        parameters.add(realm.name)
        parameters.add(after ?? "")
        parameters.add(Int64(limit))
        return try await CurrentRows.read(listing, parameters, from: database, Entry.init)
    }
}

extension Hosts.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let realm = RealmID(rows.text(row, 3)) else { return nil }
        self.init(
            id: rows.identifier(row, 1), host: rows.text(row, 2), realm: realm,
            assignedAt: rows.instant(row, 4))
    }
}

private let columns = "h.stream, h.host, h.leads_to, h.assigned_at"

private let finding = Statement(
    "host_by_name",
    """
    select p.current, \(columns)
    from urd.hosts_position p left join urd.hosts h on h.realm = $1 and h.host = $2
    where p.realm = $1
    """)
private let listing = Statement(
    "host_page",
    """
    select p.current, \(columns)
    from urd.hosts_position p
    left join lateral (
        select * from urd.hosts h where h.realm = $1 and h.leads_to = $2 and h.host > $3
        order by h.host limit $4
    ) h on true
    where p.realm = $1 order by h.host
    """)
