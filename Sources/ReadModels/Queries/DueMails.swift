public import EventSourcing
public import JSON
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

        public init(realm: RealmID, mail: UUID, position: Int64, attempts: Int = 0) {
            self.realm = realm
            self.mail = mail
            self.position = position
            self.attempts = attempts
        }
    }

    private let database: Database

    /// The events that ask for a mail, where they name one.
    private static let asking = Set(
        (Projection.all.first { $0.name == "mails" }?.types ?? []).filter { !$0.hasPrefix("mail.") })

    /// The mail that an event asks for, as the read model sees it.
    public static func asked(by name: String, _ fields: [String: JSON]) -> UUID? {
        guard asking.contains(name) else { return nil }
        return (fields["mail"] ?? fields["otp"])?.string.flatMap { UUID($0) }
    }

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
}

private let reading = Statement(
    "mails_due",
    """
    select m.realm, m.mail, m.position, m.attempts from urd.mails m
    where not m.failed and m.due_at <= $1 order by m.due_at limit $2
    """)
