import EventSourcing
import Postgres
import Values

extension AuditEntry {
    /// The same as `trail` with a filter, which may have to look at more than time allows.
    public static let filteredTrail = Question<AuditPage, ScannedPage<AuditEntry, Int64>>(
        "filtered_audit_trail"
    ) { models, realm, asked throws(LogFailure) in
        try await models.filteredAuditTrail(
            of: realm, asked.selection, after: asked.after, limit: asked.limit,
            within: Scan.patience)
    }
}

extension ReadModelQueries {
    func filteredAuditTrail(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int,
        within patience: Duration
    ) async throws(LogFailure) -> ScannedPage<AuditEntry, Int64> {
        var scan = Scan(patience: patience)
        let selection = selection.narrowed
        let isNewestFirst = selection.isNewestFirst
        let asksIndex = selection.filter?.asksIndex ?? false
        var (first, end) = try await reading { () throws(ReadFailure) in
            try await database.read { connection throws(Postgres.Failure) in
                let asked = try AuditQuestion.positions(
                    realm, selection, after: position, over: connection)
                let known = try Self.known(realm, asksIndex, connection)
                return .success((asked.first, min(asked.end, known + 1)))
            }
        }
        var items: [AuditEntry] = []
        while first < end {
            let part =
                isNewestFirst
                ? (first: max(first, end - scan.size), end: end)
                : (first: first, end: min(end, first + scan.size))
            let wanted = limit - items.count
            let question = AuditQuestion(realm, selection, part, limit: wanted)
            let found = try await scanned(&scan) { connection throws(Postgres.Failure) in
                let rows = try connection.executeOnce(
                    question.statement.sql, question.parameters)
                let found = (0..<rows.count).map { AuditEntry(rows, $0) }
                let isFull = found.count == wanted
                let last = found.last?.position ?? 0
                let looked =
                    isNewestFirst
                    ? (first: isFull ? last : part.first, end: part.end)
                    : (first: part.first, end: isFull ? last + 1 : part.end)
                return (
                    found, try Self.hole(realm, looked, newest: isNewestFirst, connection)
                )
            }
            if let (found, hole) = found {
                // What was looked for may be what is missing: a reader has all that is before it, and is told then.
                if let hole {
                    items += found.filter {
                        isNewestFirst ? $0.position > hole : $0.position < hole
                    }
                    guard !items.isEmpty || hole != (isNewestFirst ? end - 1 : first) else {
                        throw .damaged
                    }
                    return ScannedPage(items, stoppedAt: isNewestFirst ? hole + 1 : hole - 1)
                }
                items += found
                if items.count >= limit { return ScannedPage(items) }
                if isNewestFirst { end = part.first } else { first = part.end }
            }
            if scan.isOver, first < end {
                return ScannedPage(items, stoppedAt: isNewestFirst ? end : first - 1)
            }
        }
        return ScannedPage(items)
    }

    /// How far the models are that are asked: of what is behind that nothing is said yet.
    private static func known(
        _ realm: RealmID, _ asksIndex: Bool, _ connection: Connection
    ) throws(Postgres.Failure) -> Int64 {
        let rows = try connection.execute(knownPositions, Parameters(realm: realm.name))
        guard !rows.isEmpty else { return 0 }
        return asksIndex ? min(rows.int64(0, 0), rows.int64(0, 1)) : rows.int64(0, 0)
    }

    /// The first position from one on and before another of which the event is missing; the last one, where the newest
    /// come first.
    private static func hole(
        _ realm: RealmID, _ range: (first: Int64, end: Int64), newest isNewestFirst: Bool,
        _ connection: Connection
    ) throws(Postgres.Failure) -> Int64? {
        var parameters = Parameters(realm: realm.name)
        parameters.add(range.first)
        parameters.add(range.end)
        let count = try connection.execute(counting, parameters).int64(0, 0)
        guard count < range.end - range.first else { return nil }
        let rows = try connection.execute(
            isNewestFirst ? findingLast : findingFirst, parameters)
        guard rows.isNull(0, 0) else { return rows.int64(0, 0) }
        return isNewestFirst ? range.end - 1 - count : range.first + count
    }

    private static let counting = Statement(
        "filter_whole",
        "select count(*) from urd.event e where e.realm = $1 and e.position >= $2 and e.position < $3"
    )
    private static let findingFirst = Statement(
        "filter_first_hole",
        """
        select min(e.number) from (
            select p.position, $2 - 1 + row_number() over (order by p.position) as number
            from urd.event p where p.realm = $1 and p.position >= $2 and p.position < $3) e
        where e.position <> e.number
        """)
    private static let findingLast = Statement(
        "filter_last_hole",
        """
        select max(e.number) from (
            select p.position, $3 - row_number() over (order by p.position desc) as number
            from urd.event p where p.realm = $1 and p.position >= $2 and p.position < $3) e
        where e.position <> e.number
        """)

    private static let knownPositions = Statement(
        "filter_known_positions",
        """
        select a.position, i.position
        from urd.audit_trail_position a
        join urd.event_index_position i on i.realm = a.realm
        where a.realm = $1
        """)
}

extension AuditSelection {
    /// From and until when its filter wants entries, so that others are not looked at.
    fileprivate var narrowed: AuditSelection {
        var narrowed = self
        for part in filter?.conjuncts ?? [] {
            guard case .comparison(let comparison) = part, comparison.attribute.name == "at",
                case .time(let time)? = comparison.values.first
            else { continue }
            switch comparison.operation {
            case .greater, .greaterOrEqual:
                narrowed.since = narrowed.since.map { max($0, time) } ?? time
            case .less, .lessOrEqual:
                let end = time.adding(microseconds: 1)
                narrowed.until = narrowed.until.map { min($0, end) } ?? end
            default: break
            }
        }
        return narrowed
    }
}
