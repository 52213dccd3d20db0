public import EventSourcing
public import Postgres
public import Values

/// What a read model holds to be done now, of every realm.
public struct DueWork: Sendable {
    public enum Kind: Sendable {
        case mails
        /// What goes to phones.
        case messages
        /// What clients are to be told of logouts.
        case notices
        case notifications
    }

    public struct Entry: Sendable, Hashable {
        public let realm: RealmID
        public let id: UUID
        /// The event that asks for it.
        public let position: Int64
        /// How often it was tried since it was last put in the queue.
        public let attempts: Int

        public init(realm: RealmID, id: UUID, position: Int64, attempts: Int = 0) {
            self.realm = realm
            self.id = id
            self.position = position
            self.attempts = attempts
        }
    }

    private let reading: Statement
    private let database: Database

    public init(_ kind: Kind, _ database: Database) {
        reading = kind.reading
        self.database = database
    }

    /// The due entries, those that have waited longest first.
    /// - Parameters:
    ///   - now: the latest time that it is in any realm.
    ///   - isDue: whether it is by the time of its own realm.
    public func due(
        at now: Timestamp, limit: Int,
        isDue: @escaping @Sendable (RealmID, Timestamp) -> Bool = { _, _ in true }
    ) async throws(ReadFailure) -> [Entry] {
        try await database.rows(reading, Parameters(until: now, limit: limit)) { rows, row in
            guard let realm = RealmID(rows.text(row, 0)), isDue(realm, rows.instant(row, 4))
            else { return nil }
            return Entry(
                realm: realm, id: rows.identifier(row, 1), position: rows.int64(row, 2),
                attempts: rows.integer(row, 3))
        }
    }
}

extension DueWork.Kind {
    fileprivate var reading: Statement {
        switch self {
        case .mails: dueMails
        case .messages: dueMessages
        case .notices: dueNotices
        case .notifications: dueNotifications
        }
    }
}

private let dueMails = Statement("mails_due", due("mails", "mail", "and w.channel is null"))
private let dueMessages = Statement(
    "messages_due", due("mails", "mail", "and w.channel is not null"))
private let dueNotices = Statement("logout_notices_due", due("logout_notices", "notice"))
private let dueNotifications = Statement("notifications_due", due("notifications", "notification"))

/// One realm's damaged row keeps nothing of the others back.
private func due(_ model: String, _ id: String, _ which: String = "") -> String {
    """
    select w.realm, w.\(id), w.position, w.attempts, w.due_at from urd.\(model) w
    where not w.failed \(which) and w.due_at <= $1 and w.position is not null
        and w.attempts is not null order by w.due_at limit $2
    """
}
