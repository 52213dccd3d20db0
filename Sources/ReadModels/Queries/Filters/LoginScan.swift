import EventSourcing
import Postgres

/// A step through the login history, newest first: so many rows that an index finds are looked at, and what
/// a filter wants of them is told, with the last place that was looked at.
struct LoginScan: Sendable {
    enum Answer {
        case list(limit: Int)
        /// By an expression of SQL.
        case counts(by: String)
    }

    struct Step<Row: Sendable>: Sendable {
        let rows: [Row]
        /// Nil where the history ends.
        let last: LoginPlace?
    }

    /// Rows of one step. They are kept while they are looked at.
    static let most: Int64 = 1 << 16

    private let size: Int64
    private let sql: String
    private let parameters: Parameters

    init(
        _ realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, size: Int64,
        _ answer: Answer
    ) {
        self.size = size
        let bounds = LoginHistoryQuestion.parameters(realm, selection, place, size)
        var condition = FilterCondition(.loginHistory, bounds, count: 5)
        let (found, rest) = Self.divide(selection)
        let indexed = found.map { " and " + condition.text(of: $0) }.joined()
        let wanted = condition.text(of: .all(rest))
        var parameters = condition.parameters
        switch answer {
        case .list(let limit):
            parameters.add(Int64(limit))
            sql = Self.sql(
                indexed,
                """
                select \(LoginView.columns) from scanned h\(FilterRows.loginHistory.event(for: wanted))
                where \(wanted) order by h.at desc, h.position desc limit $\(condition.count + 1)
                """, order: " order by m.at desc, m.position desc")
        case .counts(let key):
            let event = FilterRows.loginHistory.event(for: wanted + key)
            sql = Self.sql(
                indexed,
                """
                select \(key) as key, count(*), count(*) filter (where h.outcome = 'refused')
                from scanned h\(event) where \(wanted) group by 1
                """)
        }
        self.parameters = parameters
    }

    func ask<Row>(
        _ connection: Connection, _ read: (Rows, Int) -> Row
    ) throws(Postgres.Failure) -> Step<Row> {
        let rows = try connection.executeOnce(sql, parameters)
        guard !rows.isEmpty else { return Step(rows: [], last: nil) }
        let last = LoginPlace(at: rows.instant(0, 1), position: rows.int64(0, 2))
        return Step(
            rows: (0..<rows.count).filter { !rows.isNull($0, 4) }.map { read(rows, $0) },
            last: rows.int64(0, 0) < size ? nil : last)
    }

    private static func sql(_ indexed: String, _ answer: String, order: String = "") -> String {
        """
        with scanned as materialized (
            select h.* from urd.login_history h
            where h.realm = $1 and (h.at, h.position) < ($2, $3) and h.at >= $4\(indexed)
            order by h.at desc, h.position desc limit $5)
        select l.count, l.at, l.position, m.*
        from (
            select count(*) over () as count, s.at, s.position from scanned s
            order by s.at, s.position limit 1) l
        left join lateral (\(answer)) m on true\(order)
        """
    }

    /// What an index finds, apart: the rest is held against each row that it finds.
    private static func divide(
        _ selection: LoginSelection
    ) -> (found: [FilterExpression], rest: [FilterExpression]) {
        var found: [FilterExpression] = []
        var rest: [FilterExpression] = []
        func equal(_ name: String, _ kinds: FilterAttribute.Kinds, _ value: FilterValue?) {
            guard let value else { return }
            found.append(
                .comparison(FilterComparison(FilterAttribute(name, kinds), .equal, [value])))
        }
        equal("account", .id, selection.account.map { .id($0) })
        equal("client", .text, selection.clientID.map { .text($0) })
        equal(
            "outcome", .text,
            selection.isRefused.map { .text($0 ? "refused" : "signed_in") })
        for part in selection.filter?.conjuncts ?? [] {
            if case .comparison(let comparison) = part, isIndexed(comparison) {
                found.append(part)
            } else {
                rest.append(part)
            }
        }
        return (found, rest)
    }

    private static func isIndexed(_ comparison: FilterComparison) -> Bool {
        switch comparison.attribute.name {
        case "account", "client", "source", "session", "outcome": comparison.operation == .equal
        case "at": ![.notEqual, .present].contains(comparison.operation)
        default: false
        }
    }
}
