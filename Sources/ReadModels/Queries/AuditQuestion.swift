internal import EventSourcing
internal import Identity
internal import Postgres
internal import Values

/// A question to the audit trail, as SQL. It reads on from a position in the order of the log, with any
/// other condition; a time is a position too, which is looked for first.
struct AuditQuestion {
    private(set) var parameters: Parameters
    private var name = "audit_page"
    private var source = "urd.audit_trail a"
    private var order = "a.position"
    private var conditions: [String] = []
    private let isNewestFirst: Bool
    private var count = 4

    /// Where the answer can be, from a position on.
    static func positions(
        _ realm: RealmID, _ selection: AuditSelection, after position: Int64?,
        over connection: Connection
    ) throws(Postgres.Failure) -> (first: Int64, end: Int64) {
        var (first, end) = (Int64(1), Int64.max)
        if let position, selection.isNewestFirst { end = position }
        if let position, !selection.isNewestFirst { first = position + 1 }
        if let since = selection.since {
            let found = try Self.position(since.adding(seconds: -Self.slack), realm, connection)
            first = max(first, found)
        }
        if let until = selection.until {
            let found = try Self.position(until.adding(seconds: Self.slack), realm, connection)
            end = min(end, found)
        }
        return (first, end)
    }

    init(
        _ realm: RealmID, _ selection: AuditSelection, _ positions: (first: Int64, end: Int64),
        limit: Int
    ) {
        parameters = Parameters(realm: realm.name)
        isNewestFirst = selection.isNewestFirst
        parameters.add(positions.first)
        parameters.add(positions.end)
        parameters.add(Int64(limit))
        choose(selection)
        if let type = selection.type {
            parameters.add(type)
            condition("type", "(a.type = $# or starts_with(a.type, $# || '.'))")
            if selection.stream == nil, selection.signInsOf == nil, Self.isRare(type) {
                name += "_rare"
                conditions.append("a.type <> all ('{\(Self.everyday.joined(separator: ","))}')")
            }
        }
        // In a form for which the index by time does not fit: with it the planner would read, and sort, all
        // that happened in that time for a page of it.
        if let since = selection.since {
            parameters.add(time: since.microseconds)
            condition("since", "(a.at >= $#) is true")
        }
        if let until = selection.until {
            parameters.add(time: until.microseconds)
            condition("until", "(a.at < $#) is true")
        }
        if let filter = selection.filter {
            let rows = FilterRows.auditTrail
            var condition = FilterCondition(rows, parameters, count: count)
            let text = condition.text(of: filter)
            parameters = condition.parameters
            conditions.append(text)
            source += rows.event(for: text)
        }
    }

    /// What has an index of its own, in whose order the answer stands.
    private mutating func choose(_ selection: AuditSelection) {
        if let stream = selection.stream {
            parameters.add(stream)
            condition("stream", "e.realm = $1 and e.stream = $# and e.position >= $2")
            source =
                "urd.event e join urd.audit_trail a on a.realm = $1 and a.position = e.position"
            order = "e.version"
        } else if let clientID = selection.signInsOf {
            parameters.add(clientID)
            condition("sign_ins", "h.realm = $1 and h.client_id = $# and h.position >= $2")
            source =
                "urd.login_history h join urd.audit_trail a on a.realm = $1 and a.position = h.position"
            order = "h.position"
        }
        if let actor = selection.actor {
            parameters.add(actor)
            condition("actor", "a.actor = $#")
        }
    }

    private mutating func condition(_ part: String, _ text: String) {
        count += 1
        name += "_" + part
        conditions.append(
            text.split(separator: "#", omittingEmptySubsequences: false)
                .joined(separator: "\(count)"))
    }

    var statement: Statement {
        let also = conditions.map { " and " + $0 }.joined()
        return Statement(
            name + (isNewestFirst ? "_newest" : ""),
            """
            select a.position, a.at, a.type, a.stream, a.actor, a.client, a.correlation, a.fields
            from \(source)
            where a.realm = $1 and a.position >= $2 and a.position < $3\(also)
            order by \(order)\(isNewestFirst ? " desc" : "") limit $4
            """)
    }
}

extension AuditQuestion {
    /// What happens with every sign-in. All else has an index (Projections/audit_trail.sql), which is taken
    /// where a question excludes the same types in the same words.
    private static let everyday = [
        AccountEvent.Form.registered.name, BrowserSessionEvent.Form.opened.name,
        MailboxEvent.Form.linkIssued.name, MailboxEvent.Form.linkRedeemed.name,
        MailEvent.Form.sent.name,
        MailboxEvent.Form.assigned.name, MailboxEvent.Form.codeIssued.name,
        MailboxEvent.Form.codeRedeemed.name, PasskeyEvent.Form.used.name,
        PassphraseEvent.Form.used.name,
        PushedRequestEvent.Form.used.name, SessionEvent.Form.opened.name,
        SessionEvent.Form.refreshed.name, SessionCodeEvent.Form.issued.name,
        SessionCodeEvent.Form.used.name, TwoFactorEvent.Form.used.name,
    ]

    private static func isRare(_ type: String) -> Bool {
        !everyday.contains { $0 == type || $0.hasPrefix(type + ".") }
    }

    /// Seconds that an entry may stand before another of an earlier time: the clocks of nodes differ.
    private static let slack: Int64 = 60

    /// The first position that is not before a time, found by halves: positions have no gaps.
    private static func position(
        _ time: Timestamp, _ realm: RealmID, _ connection: Connection
    ) throws(Postgres.Failure) -> Int64 {
        var parameters = Parameters(realm: realm.name)
        parameters.add(time: time.microseconds)
        let rows = try connection.execute(search, parameters)
        return rows.count == 0 ? 1 : rows.int64(0, 0)
    }

    private static let search = Statement(
        "audit_position_at",
        """
        with recursive search (low, high) as (
            select 1::bigint, 1 + coalesce(
                (select max(a.position) from urd.audit_trail a where a.realm = $1), 0)
            union all
            select case when m.is_earlier then m.middle + 1 else s.low end,
                case when m.is_earlier then s.high else m.middle end
            from search s cross join lateral (
                select (s.low + s.high) / 2 as middle,
                    (select a.at < $2 from urd.audit_trail a
                        where a.realm = $1 and a.position = (s.low + s.high) / 2) as is_earlier) m
            where s.low < s.high)
        select s.low from search s where s.low >= s.high
        """)
}
