public import EventSourcing
import Postgres
import Values

extension ReadModelQueries {
    /// The same as `auditTrail` with a filter, which may have to look at more than time allows.
    public func filteredAuditTrail(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> ScannedPage<AuditEntry, Int64> {
        try await filteredAuditTrail(
            of: realm, selection, after: position, limit: limit, within: Scan.patience)
    }

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
            let question = AuditQuestion(
                realm, selection, part, limit: limit - items.count)
            let found = try await scanned(&scan) { connection throws(Postgres.Failure) in
                let rows = try connection.executeOnce(
                    question.statement.sql, question.parameters)
                return (0..<rows.count).map { AuditEntry(rows, $0) }
            }
            if let found {
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
