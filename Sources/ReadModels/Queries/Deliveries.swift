internal import EventSourcing
public import Identity
internal import Postgres
public import Values

/// A mail or a notification on its way to a person, or that could not be sent: without what it says.
public struct DeliveryView: Sendable, Equatable {
    public var id: UUID
    /// Of a mail the event that asks for it, of a notification its category.
    public var kind: String
    /// Where the event stands that asks for it.
    public var position: Int64
    public var hasFailed: Bool
    public var attempts: Int
    /// The time of the next attempt, or at which the delivery was given up.
    public var dueAt: Timestamp
    /// What a server answered last; 0 where none was reached.
    public var code: Int?
    /// Why a mail did not get through when it was last tried.
    public var reason: MailFault?

    public init(
        id: UUID, kind: String, position: Int64, hasFailed: Bool, attempts: Int,
        dueAt: Timestamp, code: Int?, reason: MailFault? = nil
    ) {
        self.id = id
        self.kind = kind
        self.position = position
        self.hasFailed = hasFailed
        self.attempts = attempts
        self.dueAt = dueAt
        self.code = code
        self.reason = reason
    }

    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 0), kind: rows.text(row, 1), position: rows.int64(row, 2),
            hasFailed: rows.bool(row, 3), attempts: rows.integer(row, 4),
            dueAt: rows.instant(row, 5), code: rows.optionalInteger(row, 6),
            reason: rows.optionalText(row, 7).flatMap(MailFault.init(rawValue:)))
    }
}

/// Those that wait, or only those that failed: they follow the log at a small distance.
public typealias DeliveryPage = (failedOnly: Bool, after: UUID?, limit: Int)

extension DeliveryView {
    public static let mails = pages("mails", all: allMails, failed: failedMails)
    public static let notifications = pages(
        "notifications", all: allNotifications, failed: failedNotifications)

    private static func pages(
        _ name: String, all: Statement, failed: Statement
    ) -> Question<DeliveryPage, [DeliveryView]> {
        Question(name) { models, realm, page throws(LogFailure) in
            try await models.rows(
                page.failedOnly ? failed : all,
                Parameters(in: realm, after: page.after, limit: page.limit), Self.init(_:_:))
        }
    }
}

/// It is on record in the stream of the mail, of whose events the last one counts.
private let lastReason = """
    (select e.data ->> 'reason' from urd.event e
        where e.realm = $1 and e.stream = w.mail
            and e.type in ('mail.deferred', 'mail.failed', 'mail.requeued')
        order by e.version desc limit 1)
    """

private let allMails = Statement("mail_page", page("mails", "mail", "kind", lastReason))
private let failedMails = Statement(
    "mail_page_failed", page("mails", "mail", "kind", lastReason, "and w.failed"))
private let allNotifications = Statement(
    "notification_page", page("notifications", "notification", "category", "null::text"))
private let failedNotifications = Statement(
    "notification_page_failed",
    page("notifications", "notification", "category", "null::text", "and w.failed"))

private func page(
    _ model: String, _ id: String, _ kind: String, _ reason: String, _ which: String = ""
) -> String {
    """
    select w.\(id), w.\(kind), w.position, w.failed, w.attempts, w.due_at, w.code, \(reason)
    from urd.\(model) w
    where w.realm = $1 and w.\(id) > $2 \(which) order by w.\(id) limit $3
    """
}
