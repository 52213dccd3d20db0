public import Postgres
public import Values

/// Mails, or messages, that have waited for so long that an operator should look at the mail server or gateway.
public struct WaitingMails: Sendable, Equatable {
    /// Messages to phones, not mails.
    public let areMessages: Bool
    public let count: Int64
    /// The time of the oldest request.
    public let since: Timestamp
    public let seconds: Double
    /// The realm of the oldest.
    public let realm: String
    /// Why an attempt failed, the last that is on record of those that wait longest. Nil: no attempt is on record.
    public let reason: String?

    /// A mail is sent within a second, and tried again after some where that fails for once.
    public static let patience = 300.0

    /// - Parameter now: nil is the database's time.
    public static func read(
        at now: Timestamp? = nil, _ connection: Connection
    ) throws(Postgres.Failure) -> [WaitingMails] {
        var parameters = Parameters()
        parameters.add(time: now?.microseconds)
        let rows = try connection.execute(reading, parameters)
        return (0..<rows.count).compactMap { row in
            WaitingMails((0..<rows.width).map { rows.isNull(row, $0) ? nil : rows.text(row, $0) })
        }
    }

    /// - Parameter row: of the question.
    public init?(_ row: [String?]) {
        guard row.count == 6, let count = row[1].flatMap({ Int64($0) }),
            let since = row[2].flatMap({ Int64($0) }), let seconds = row[3].flatMap({ Double($0) }),
            let realm = row[4]
        else { return nil }
        self.init(
            areMessages: row[0] == "messages", count: count,
            since: Timestamp(microseconds: since), seconds: seconds, realm: realm, reason: row[5])
    }

    public init(
        areMessages: Bool, count: Int64, since: Timestamp, seconds: Double, realm: String,
        reason: String?
    ) {
        self.areMessages = areMessages
        self.count = count
        self.since = since
        self.seconds = seconds
        self.realm = realm
        self.reason = reason
    }

    /// Of mails and of messages, all columns as text. Those that were asked for a while ago are looked at, however many wait
    /// beside them: each mail is retried again and again, so that none of them is due long after the others.
    /// - Parameter now: the time, as SQL.
    public static func question(at now: String) -> String {
        """
        select w.kind, count(*)::text, (extract(epoch from min(w.at)) * 1000000)::bigint::text,
            extract(epoch from \(now) - min(w.at))::text,
            (array_agg(w.realm order by w.at))[1],
            (array_agg(l.reason order by l.at desc) filter (where l.reason is not null))[1]
        from (
            select m.realm, m.mail, e.at,
                case when m.channel is null then 'mails' else 'messages' end as kind
            from (select * from urd.mails q where not q.failed order by q.due_at limit 10000) m
            join urd.event e on e.realm = m.realm and e.position = m.position) w
        left join lateral (
            select concat_ws(' ', f.data ->> 'reason', nullif(f.data ->> 'code', '0')) as reason, f.at
            from urd.event f
            where w.at < \(now) - make_interval(secs => \(patience)) and f.realm = w.realm
                and f.stream = w.mail and f.type = 'mail.deferred'
            order by f.version desc limit 1) l on true
        group by w.kind
        having min(w.at) < \(now) - make_interval(secs => \(patience))
        order by w.kind
        """
    }
}

private let reading = Statement(
    "mails_waiting", WaitingMails.question(at: "coalesce($1, clock_timestamp())"))
