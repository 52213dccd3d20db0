public import EventSourcing
public import Postgres
public import Values

/// Who signed in or tried to, and how it went. Follows the log at a small distance.
public struct LoginHistory: Sendable {
    public struct Entry: Sendable, Equatable {
        public let position: Int64
        public let at: Timestamp
        public let account: UUID?
        public let app: UUID?
        /// The name that the client goes by in OAuth. Nil: it was on a page.
        public let clientID: String?
        public let method: String?
        public let isRefused: Bool
        public let reason: String?
        public let session: UUID?
        public let source: String?
        public let device: String?
        public let endedAt: Timestamp?
        public let endReason: String?
    }

    /// What of it to list.
    public struct Selection: Sendable {
        public var account: UUID?
        public var clientID: String?
        public var isRefused: Bool?
        /// From this moment on.
        public var since: Timestamp?
        /// Before this moment.
        public var until: Timestamp?

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

    /// A place in the list: entries have the order of their time, and of their position where that is
    /// the same.
    public struct Place: Sendable, Equatable {
        public let at: Timestamp
        public let position: Int64

        public init(at: Timestamp, position: Int64) {
            self.at = at
            self.position = position
        }
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Newest first, from behind a place on.
    public func page(
        of realm: RealmID, _ selection: Selection = Selection(), after place: Place? = nil,
        limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        let (statement, parameters) = Self.question(realm, selection, place, limit)
        return try await database.read { connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            return .success((0..<rows.count).map { Entry(rows, $0) })
        }
    }

    /// Waits until it holds everything up to a position of an epoch, at most so long.
    public func reaches(
        _ position: Int64, epoch: Int, of realm: RealmID, within limit: Duration
    ) async throws(ReadFailure) -> FollowedPosition.Reached {
        try await FollowedPosition.wait("login_history", position, epoch, realm, limit, database)
    }

    /// Each kind of question is a statement of its own, so that each has an index in whose order the
    /// answer stands: no question reads more than it tells.
    static func question(
        _ realm: RealmID, _ selection: Selection, _ place: Place?, _ limit: Int
    ) -> (Statement, Parameters) {
        var parameters = Parameters(realm: realm.name)
        // Where it begins and where it ends, in time.
        var start = Place(at: latest, position: .max)
        if let place, place.at < latest { start = place }
        if let until = selection.until, until <= start.at {
            start = Place(at: until, position: 0)
        }
        parameters.add(time: start.at.microseconds)
        parameters.add(start.position)
        parameters.add(time: max(selection.since ?? earliest, earliest).microseconds)
        parameters.add(Int64(limit))
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
                select h.position, h.at, h.account, h.app, h.client_id, h.method,
                    h.outcome = 'refused', h.reason, h.session, h.source, h.device, h.ended_at,
                    h.end_reason
                from urd.login_history h
                where h.realm = $1 and (h.at, h.position) < ($2, $3) and h.at >= $4\(conditions)
                order by h.at desc, h.position desc limit $5
                """), parameters
        )
    }

    // Years that PostgreSQL, RFC 3339 and this code all know.
    private static let earliest = Timestamp(seconds: -62_135_596_800)
    private static let latest = Timestamp(seconds: 253_402_300_799)
}

extension LoginHistory.Entry {
    fileprivate init(_ rows: Rows, _ row: Int) {
        func id(_ column: Int) -> UUID? {
            rows.isNull(row, column) ? nil : rows.identifier(row, column)
        }
        self.init(
            position: rows.int64(row, 0), at: rows.instant(row, 1), account: id(2), app: id(3),
            clientID: rows.optionalText(row, 4), method: rows.optionalText(row, 5),
            isRefused: rows.bool(row, 6), reason: rows.optionalText(row, 7), session: id(8),
            source: rows.optionalText(row, 9), device: rows.optionalText(row, 10),
            endedAt: rows.isNull(row, 11) ? nil : rows.instant(row, 11),
            endReason: rows.optionalText(row, 12))
    }
}
