public import Postgres

/// How many mails and messages are not taken yet, up to a number beyond which it is not worth counting.
public struct QueuedMails: Sendable, Equatable {
    public let mails: Int64
    public let messages: Int64

    public static func read(_ connection: Connection) throws(Failure) -> QueuedMails {
        let rows = try connection.execute(reading)
        return QueuedMails(mails: rows.int64(0, 0), messages: rows.int64(0, 1))
    }
}

private let reading = Statement(
    "mails_queued",
    """
    select count(*) filter (where q.channel is null), count(*) filter (where q.channel is not null)
    from (select m.channel from urd.mails m where not m.failed limit 10000) q
    """)
