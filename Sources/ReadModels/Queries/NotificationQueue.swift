public import EventSourcing
public import Postgres
public import Values

/// The notifications of a realm that are on their way, and those that could not be sent. Follows the log
/// at a small distance. What one says is not in here.
public struct NotificationQueue: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let category: String
        /// The event that asks for it.
        public let position: Int64
        public let hasFailed: Bool
        public let attempts: Int
        /// When it is tried next, or was given up.
        public let dueAt: Timestamp
        /// What a provider answered last; 0 where none was reached.
        public let code: Int?
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// In the order of their ids, from behind `after` on; only those that failed, if wanted.
    public func page(
        of realm: RealmID, failedOnly: Bool, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(after ?? .zero)
        parameters.add(Int64(limit))
        let statement = failedOnly ? listingFailed : listing
        return try await database.read { [parameters] connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            return .success((0..<rows.count).map { Entry(rows, $0) })
        }
    }

    /// Waits until it holds everything up to a position of an epoch, at most so long.
    public func reaches(
        _ position: Int64, epoch: Int, of realm: RealmID, within limit: Duration
    ) async throws(ReadFailure) -> FollowedPosition.Reached {
        try await FollowedPosition.wait("notifications", position, epoch, realm, limit, database)
    }
}

extension NotificationQueue.Entry {
    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 0), category: rows.text(row, 1), position: rows.int64(row, 2),
            hasFailed: rows.bool(row, 3), attempts: Int(rows.int32(row, 4)),
            dueAt: rows.instant(row, 5),
            code: rows.isNull(row, 6) ? nil : Int(rows.int32(row, 6)))
    }
}

private let columns =
    "n.notification, n.category, n.position, n.failed, n.attempts, n.due_at, n.code"

private let listing = Statement(
    "notification_page",
    """
    select \(columns) from urd.notifications n
    where n.realm = $1 and n.notification > $2 order by n.notification limit $3
    """)
private let listingFailed = Statement(
    "notification_page_failed",
    """
    select \(columns) from urd.notifications n
    where n.realm = $1 and n.notification > $2 and n.failed order by n.notification limit $3
    """)
