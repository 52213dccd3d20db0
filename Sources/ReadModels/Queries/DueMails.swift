public import EventSourcing
public import Postgres
public import Values

/// The mails that are to be sent now, of every realm.
public struct DueMails: Sendable {
    public struct Entry: Sendable, Hashable {
        public let realm: RealmID
        public let mail: UUID
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
                            realm: $0, mail: rows.identifier(row, 1),
                            position: rows.int64(row, 2), attempts: Int(rows.int32(row, 3)))
                    }
                })
        }
    }

    /// Those that a stretch of the log asks for, from behind `position` up to `last`.
    public func ordered(
        behind position: Int64, upTo last: Int64, in realm: RealmID
    ) async throws(ReadFailure) -> [Entry] {
        try await database.read { connection throws(Postgres.Failure) in
            var parameters = Parameters(realm: realm.name)
            parameters.add(position)
            parameters.add(last)
            let rows = try connection.execute(ordering, parameters)
            return .success(
                (0..<rows.count).map { row in
                    Entry(
                        realm: realm, mail: rows.identifier(row, 1), position: rows.int64(row, 0),
                        attempts: 0)
                })
        }
    }
}

private let ordering = Statement(
    "mails_ordered",
    """
    select o.o_position, o.o_mail from urd.mail_orders($1, $2, $3) o
    """)
private let reading = Statement(
    "mails_due",
    """
    select m.realm, m.mail, m.position, m.attempts from urd.mails m
    where not m.failed and m.due_at <= $1 order by m.due_at limit $2
    """)
