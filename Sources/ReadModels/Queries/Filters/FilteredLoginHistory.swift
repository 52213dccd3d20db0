import EventSourcing
import Postgres
import Values

/// How many sign-ins there were of each kind.
public struct LoginCount: Sendable, Equatable {
    /// Nil for sign-ins without this column.
    public var value: String?
    public var count: Int64
    public var refused: Int64

    public init(value: String?, count: Int64, refused: Int64) {
        self.value = value
        self.count = count
        self.refused = refused
    }
}

/// By what sign-ins are counted.
public enum LoginGroup: String, Sendable, CaseIterable {
    case hour, day, client, method, outcome, reason, country, device

    /// Whether the answer is a series.
    public var isTime: Bool { self == .hour || self == .day }

    fileprivate var key: String {
        switch self {
        case .hour: "to_char(h.at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:00:00\"Z\"')"
        case .day: "to_char(h.at at time zone 'utc', 'YYYY-MM-DD')"
        case .client: "h.client_id"
        case .method, .outcome, .reason, .country, .device: "h.\(rawValue)"
        }
    }
}

extension LoginView {
    /// The same as `history` with a filter, which may have to look at more than time allows.
    public static let filteredHistory = Question<
        LoginHistoryPage, ScannedPage<LoginView, LoginPlace>
    >(
        "filtered_login_history"
    ) { models, realm, asked throws(LogFailure) in
        try await models.filteredLoginHistory(
            of: realm, asked.selection, after: asked.after, limit: asked.limit,
            within: Scan.patience)
    }
}

extension LoginCount {
    /// How many of the selected sign-ins there are of each kind, behind a place; in the order of time, or the
    /// most first.
    public static let counts = Question<
        (selection: LoginSelection, group: LoginGroup, after: LoginPlace?),
        ScannedPage<LoginCount, LoginPlace>
    >("login_counts") { models, realm, asked throws(LogFailure) in
        try await models.loginCounts(
            of: realm, asked.selection, by: asked.group, after: asked.after,
            within: Scan.patience)
    }
}

extension ReadModelQueries {
    func filteredLoginHistory(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, limit: Int,
        within patience: Duration
    ) async throws(LogFailure) -> ScannedPage<LoginView, LoginPlace> {
        var scan = Scan(patience: patience, most: LoginScan.most)
        var place = place
        var items: [LoginView] = []
        while true {
            let question = LoginScan(
                realm, selection, after: place, size: scan.size,
                .list(limit: limit - items.count))
            let step = try await scanned(&scan) { connection throws(Postgres.Failure) in
                try question.ask(connection) { LoginView($0, $1, from: 3) }
            }
            if let step {
                items += step.rows
                guard items.count < limit, let last = step.last else { return ScannedPage(items) }
                place = last
            }
            if scan.isOver { return ScannedPage(items, stoppedAt: place) }
        }
    }

    func loginCounts(
        of realm: RealmID, _ selection: LoginSelection, by group: LoginGroup,
        after place: LoginPlace?, within patience: Duration
    ) async throws(LogFailure) -> ScannedPage<LoginCount, LoginPlace> {
        var scan = Scan(patience: patience, most: LoginScan.most)
        var place = place
        var counts: [String?: LoginCount] = [:]
        while true {
            let question = LoginScan(
                realm, selection, after: place, size: scan.size, .counts(by: group.key))
            let step = try await scanned(&scan) { connection throws(Postgres.Failure) in
                try question.ask(connection) { rows, row in
                    LoginCount(
                        value: rows.optionalText(row, 3), count: rows.int64(row, 4),
                        refused: rows.int64(row, 5))
                }
            }
            if let step {
                for one in step.rows { counts[one.value, default: .none(of: one.value)].add(one) }
                guard let last = step.last else {
                    return ScannedPage(group.sorted(Array(counts.values)))
                }
                place = last
            }
            if scan.isOver {
                return ScannedPage(group.sorted(Array(counts.values)), stoppedAt: place)
            }
        }
    }
}

extension LoginGroup {
    fileprivate func sorted(_ counts: [LoginCount]) -> [LoginCount] {
        counts.sorted { left, right in
            guard isTime || left.count == right.count else { return left.count > right.count }
            return (left.value ?? "") < (right.value ?? "")
        }
    }
}

extension LoginCount {
    fileprivate static func none(of value: String?) -> LoginCount {
        LoginCount(value: value, count: 0, refused: 0)
    }

    fileprivate mutating func add(_ other: LoginCount) {
        count += other.count
        refused += other.refused
    }
}
