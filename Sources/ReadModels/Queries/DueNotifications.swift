public import EventSourcing
public import Postgres
public import Values

/// The notifications that people are to be sent now, of every realm.
public struct DueNotifications: Sendable {
    public struct Entry: Sendable, Hashable {
        public let realm: RealmID
        public let notification: UUID
        /// The event that asks for it.
        public let position: Int64
        /// How often it was tried since it was last put in the queue.
        public let attempts: Int
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Those that wait longest, first.
    public func due(at now: Timestamp, limit: Int) async throws(ReadFailure) -> [Entry] {
        try await database.read { connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(time: now.microseconds)
            parameters.add(Int32(clamping: limit))
            let rows = try connection.execute(reading, parameters)
            return .success(
                (0..<rows.count).compactMap { row in
                    RealmID(rows.text(row, 0)).map {
                        Entry(
                            realm: $0, notification: rows.identifier(row, 1),
                            position: rows.int64(row, 2), attempts: Int(rows.int32(row, 3)))
                    }
                })
        }
    }
}

private let reading = Statement(
    "notifications_due",
    """
    select n.realm, n.notification, n.position, n.attempts from urd.notifications n
    where not n.failed and n.due_at <= $1 order by n.due_at limit $2
    """)
