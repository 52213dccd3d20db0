public import EventSourcing
public import Postgres
public import Values

/// The accounts that are to be deleted. Follows the log at a small distance.
public struct Deletions: Sendable {
    public struct Entry: Sendable, Hashable {
        public let realm: RealmID
        public let account: UUID
        public let due: Timestamp
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Those of all realms whose time has come, oldest first.
    public func due(at now: Timestamp, limit: Int) async throws(ReadFailure) -> [Entry] {
        try await database.rows(listing, Parameters(until: now, limit: limit)) { rows, row in
            RealmID(rows.text(row, 0)).map {
                Entry(realm: $0, account: rows.identifier(row, 1), due: rows.instant(row, 2))
            }
        }
    }
}

private let listing = Statement(
    "deletions_due",
    """
    select d.realm, d.account, d.due_at from urd.deletions d
    where d.due_at <= $1 order by d.due_at limit $2
    """)
