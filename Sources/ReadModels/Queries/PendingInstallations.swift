public import EventSourcing
public import Postgres
public import Values

/// Apps on devices that no owner let in, of every realm. It follows the log at a small distance; whether
/// one is to go the command decides, which looks at its own stream.
public struct PendingInstallations: Sendable {
    public struct Entry: Sendable, Hashable {
        public let realm: RealmID
        public let client: UUID
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// The installations that were registered before a time, the oldest first.
    public func page(before time: Timestamp, limit: Int) async throws(ReadFailure) -> [Entry] {
        try await database.rows(listing, Parameters(until: time, limit: limit)) { rows, row in
            RealmID(rows.text(row, 0)).map { Entry(realm: $0, client: rows.identifier(row, 1)) }
        }
    }
}

private let listing = Statement(
    "installations_pending",
    """
    select i.realm, i.client from urd.pending_installations i
    where i.registered_at < $1 order by i.registered_at limit $2
    """)
