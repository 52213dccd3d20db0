public import EventSourcing
internal import Postgres
public import Values

/// One sign-in attempt.
public struct LoginView: Sendable, Equatable {
    public var position: Int64
    public var at: Timestamp
    public var account: UUID?
    public var app: UUID?
    /// The name that the client goes by in OAuth. Nil: it was on a page.
    public var clientID: String?
    public var method: String?
    public var isRefused: Bool
    public var reason: String?
    public var session: UUID?
    /// Where from, as a pseudonym, and on what kind of device.
    public var source: String?
    public var device: String?
    /// By what a code came, if to a phone.
    public var channel: String?
    /// Where the network is, as it was looked up then.
    public var country: String?
    public var asn: Int64?
    public var area: String?
    public var endedAt: Timestamp?
    public var endReason: String?

    public init(
        position: Int64, at: Timestamp, account: UUID?, app: UUID?, clientID: String?,
        method: String?, isRefused: Bool, reason: String?, session: UUID?, source: String?,
        device: String?, endedAt: Timestamp? = nil, endReason: String? = nil
    ) {
        self.position = position
        self.at = at
        self.account = account
        self.app = app
        self.clientID = clientID
        self.method = method
        self.isRefused = isRefused
        self.reason = reason
        self.session = session
        self.source = source
        self.device = device
        self.endedAt = endedAt
        self.endReason = endReason
    }

    /// - Parameter first: where `columns` begin.
    init(_ rows: Rows, _ row: Int, from first: Int = 0) {
        self.init(
            position: rows.int64(row, first), at: rows.instant(row, first + 1),
            account: rows.optionalIdentifier(row, first + 2),
            app: rows.optionalIdentifier(row, first + 3),
            clientID: rows.optionalText(row, first + 4),
            method: rows.optionalText(row, first + 5), isRefused: rows.bool(row, first + 6),
            reason: rows.optionalText(row, first + 7),
            session: rows.optionalIdentifier(row, first + 8),
            source: rows.optionalText(row, first + 9), device: rows.optionalText(row, first + 10),
            endedAt: rows.optionalInstant(row, first + 11),
            endReason: rows.optionalText(row, first + 12))
        channel = rows.optionalText(row, first + 13)
        country = rows.optionalText(row, first + 14)
        asn = rows.isNull(row, first + 15) ? nil : rows.int64(row, first + 15)
        area = rows.optionalText(row, first + 16)
    }

    static let columns = """
        h.position, h.at, h.account, h.app, h.client_id, h.method, h.outcome = 'refused', h.reason,
        h.session, h.source, h.device, h.ended_at, h.end_reason, h.channel,
        h.country, h.asn, h.area
        """
}

/// What of the login history is asked for.
public struct LoginSelection: Sendable, Equatable {
    public var account: UUID?
    public var clientID: String?
    public var isRefused: Bool?
    /// The start of the range, inclusive.
    public var since: Timestamp?
    /// The end of the range, exclusive.
    public var until: Timestamp?
    /// What must hold as well: see `filteredLoginHistory`.
    public var filter: FilterExpression?

    public init(
        account: UUID? = nil, clientID: String? = nil, isRefused: Bool? = nil,
        since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        self.account = account
        self.clientID = clientID
        self.isRefused = isRefused
        self.since = since
        self.until = until
    }
}

/// A place in the login history: attempts have the order of their time, and of their position where
/// that is the same.
public struct LoginPlace: Sendable, Equatable {
    public var at: Timestamp
    public var position: Int64

    public init(at: Timestamp, position: Int64) {
        self.at = at
        self.position = position
    }
}

/// Newest first, from behind a place on.
public typealias LoginHistoryPage = (selection: LoginSelection, after: LoginPlace?, limit: Int)

extension LoginView {
    /// It follows the log at a small distance.
    public static let history = Question<LoginHistoryPage, [LoginView]>("login_history") {
        models, realm, asked throws(LogFailure) in
        let (statement, parameters) = LoginHistoryQuestion.make(
            realm, asked.selection, asked.after, asked.limit)
        return try await models.rows(statement, parameters) { LoginView($0, $1) }
    }
}

enum LoginHistoryQuestion {
    /// Each kind of question is a statement of its own, so that each has an index in whose order the
    /// answer stands: no question reads more than it tells.
    static func make(
        _ realm: RealmID, _ selection: LoginSelection, _ place: LoginPlace?, _ limit: Int
    ) -> (Statement, Parameters) {
        var parameters = parameters(realm, selection, place, Int64(limit))
        var name = "login_history"
        var conditions = ""
        if let account = selection.account {
            parameters.add(account)
            name += "_account"
            conditions += " and h.account = $6"
        }
        if let clientID = selection.clientID {
            parameters.add(clientID)
            name += "_client"
            conditions += " and h.client_id = $\(selection.account == nil ? 6 : 7)"
        }
        if let isRefused = selection.isRefused {
            // In so many words: only then the index of those fits.
            name += isRefused ? "_refused" : "_signed_in"
            conditions += " and h.outcome = '\(isRefused ? "refused" : "signed_in")'"
        }
        return (
            Statement(
                name,
                """
                select \(LoginView.columns)
                from urd.login_history h
                where h.realm = $1 and (h.at, h.position) < ($2, $3) and h.at >= $4\(conditions)
                order by h.at desc, h.position desc limit $5
                """), parameters
        )
    }

    /// The realm, where the answer begins and where it ends in time, and how much of it.
    static func parameters(
        _ realm: RealmID, _ selection: LoginSelection, _ place: LoginPlace?, _ limit: Int64
    ) -> Parameters {
        var parameters = Parameters(realm: realm.name)
        var start = LoginPlace(at: latest, position: .max)
        if let place, place.at < latest { start = place }
        if let until = selection.until, until <= start.at {
            start = LoginPlace(at: until, position: 0)
        }
        parameters.add(time: start.at.microseconds)
        parameters.add(start.position)
        parameters.add(time: max(selection.since ?? earliest, earliest).microseconds)
        parameters.add(limit)
        return parameters
    }

    // Years that PostgreSQL, RFC 3339 and this code all know.
    private static let earliest = Timestamp(seconds: -62_135_596_800)
    private static let latest = Timestamp(seconds: 253_402_300_799)
}
