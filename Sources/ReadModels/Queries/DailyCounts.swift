public import EventSourcing
public import Postgres

/// How many events of each type a realm had on each day. Follows the log at a small distance.
public struct DailyCounts: Sendable {
    public struct Entry: Sendable, Equatable {
        /// In UTC, as `2026-11-21`.
        public let day: String
        public let type: String
        public let events: Int64
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// From a day up to another, both included.
    public func between(
        _ first: String, _ last: String, of realm: RealmID
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(first)
        parameters.add(last)
        return try await database.read { [parameters] connection throws(Postgres.Failure) in
            let rows = try connection.execute(counting, parameters)
            return .success(
                (0..<rows.count).map {
                    Entry(day: rows.text($0, 0), type: rows.text($0, 1), events: rows.int64($0, 2))
                })
        }
    }
}

private let counting = Statement(
    "daily_counts",
    """
    select to_char(c.day, 'YYYY-MM-DD'), c.type, c.events from urd.daily_counts c
    where c.realm = $1 and c.day between $2::text::date and $3::text::date
    order by c.day, c.type
    """)
