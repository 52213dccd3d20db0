public import EventSourcing
public import Postgres
public import Values

/// What of a realm is on its way to people, and what could not be sent. Follows the log at a small
/// distance. What it says is not in here.
public struct WorkQueue: Sendable {
    public enum Kind: Sendable {
        case mails, notifications
    }

    public struct Entry: Sendable, Equatable {
        public let id: UUID
        /// Of a mail the event that asks for it, of a notification its category.
        public let kind: String
        /// The event that asks for it.
        public let position: Int64
        public let hasFailed: Bool
        public let attempts: Int
        /// When it is tried next, or was given up.
        public let dueAt: Timestamp
        /// What a server answered last; 0 where none was reached.
        public let code: Int?
        /// Why a mail did not get through when it was last tried.
        public let reason: String?
    }

    private let lists: Lists
    private let database: Database

    public init(_ kind: Kind, _ database: Database) {
        lists =
            switch kind {
            case .mails: mails
            case .notifications: notifications
            }
        self.database = database
    }

    /// In the order of their ids, from behind `after` on; only those that failed, if wanted.
    public func page(
        of realm: RealmID, failedOnly: Bool, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(after ?? .zero)
        parameters.add(Int64(limit))
        let statement = failedOnly ? lists.failed : lists.all
        return try await database.read { [parameters] connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            return .success((0..<rows.count).map { Entry(rows, $0) })
        }
    }

    /// Waits until it holds everything up to a position of an epoch, at most so long.
    public func reaches(
        _ position: Int64, epoch: Int, of realm: RealmID, within limit: Duration
    ) async throws(ReadFailure) -> FollowedPosition.Reached {
        try await FollowedPosition.wait(lists.model, position, epoch, realm, limit, database)
    }
}

extension WorkQueue.Entry {
    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 0), kind: rows.text(row, 1), position: rows.int64(row, 2),
            hasFailed: rows.bool(row, 3), attempts: Int(rows.int32(row, 4)),
            dueAt: rows.instant(row, 5),
            code: rows.isNull(row, 6) ? nil : Int(rows.int32(row, 6)),
            reason: rows.optionalText(row, 7))
    }
}

private struct Lists: Sendable {
    let model: StaticString
    let all: Statement
    let failed: Statement
}

/// It is on record in the stream of the mail, of whose events the last one counts.
private let lastReason = """
    (select e.data ->> 'reason' from urd.event e
        where e.realm = $1 and e.stream = w.mail
            and e.type in ('mail.deferred', 'mail.failed', 'mail.requeued')
        order by e.version desc limit 1)
    """

private let mails = Lists(
    model: "mails", all: Statement("mail_page", page("mails", "mail", "kind", lastReason)),
    failed: Statement(
        "mail_page_failed", page("mails", "mail", "kind", lastReason, "and w.failed")))
private let notifications = Lists(
    model: "notifications",
    all: Statement(
        "notification_page", page("notifications", "notification", "category", "null::text")),
    failed: Statement(
        "notification_page_failed",
        page("notifications", "notification", "category", "null::text", "and w.failed")))

private func page(
    _ model: String, _ id: String, _ kind: String, _ reason: String, _ which: String = ""
) -> String {
    """
    select w.\(id), w.\(kind), w.position, w.failed, w.attempts, w.due_at, w.code, \(reason)
    from urd.\(model) w
    where w.realm = $1 and w.\(id) > $2 \(which) order by w.\(id) limit $3
    """
}
