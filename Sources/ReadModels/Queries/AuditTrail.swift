public import EventSourcing
public import JSON
public import Postgres
public import Values

/// What happened in a realm, by whom and when. Follows the log at a small distance.
public struct AuditTrail: Sendable {
    public struct Entry: Sendable, Equatable {
        public let position: Int64
        public let at: Timestamp
        /// The event's wire name.
        public let type: String
        public let stream: UUID
        /// Whose personal fields it holds, if it does.
        public let subject: UUID?
        public let actor: String
        public let client: String?
        public let correlation: String?
        /// The event's open fields.
        public let fields: JSONObject
    }

    /// What of it to list.
    public enum Selection: Sendable {
        case all
        case actor(String)
        case stream(UUID)
        /// Who signed in with a client, or could not: whoever did it then was nobody yet.
        case signIns(clientID: String)
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Newest last, from behind a position on.
    public func page(
        of realm: RealmID, _ selection: Selection = .all, after position: Int64 = 0, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(position)
        parameters.add(Int64(limit))
        let statement: Statement
        switch selection {
        case .all: statement = listing
        case .actor(let actor):
            statement = listingByActor
            parameters.add(actor)
        case .stream(let stream):
            statement = listingByStream
            parameters.add(stream)
        case .signIns(let clientID):
            statement = listingOfSignIns
            parameters.add(clientID)
        }
        return try await database.read { [parameters] connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            return .success((0..<rows.count).map { Entry(rows, $0) })
        }
    }

    /// How far it is. Nil where nothing ever happened in the realm.
    public func position(of realm: RealmID) async throws(ReadFailure) -> FollowedPosition? {
        try await FollowedPosition.read("audit_trail", realm, database)
    }

    /// Waits until it holds everything up to a position of an epoch, at most so long.
    public func reaches(
        _ position: Int64, epoch: Int, of realm: RealmID, within limit: Duration
    ) async throws(ReadFailure) -> FollowedPosition.Reached {
        try await FollowedPosition.wait("audit_trail", position, epoch, realm, limit, database)
    }
}

extension AuditTrail.Entry {
    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            position: rows.int64(row, 0), at: rows.instant(row, 1), type: rows.text(row, 2),
            stream: rows.identifier(row, 3),
            subject: rows.isNull(row, 4) ? nil : rows.identifier(row, 4), actor: rows.text(row, 5),
            client: rows.optionalText(row, 6), correlation: rows.optionalText(row, 7),
            fields: rows.object(row, 8) ?? [:])
    }
}

private let columns = """
    a.position, a.at, a.type, a.stream, a.subject, a.actor, a.client, a.correlation, a.fields
    """

private let listing = Statement(
    "audit_page",
    """
    select \(columns) from urd.audit_trail a
    where a.realm = $1 and a.position > $2 order by a.position limit $3
    """)
private let listingByActor = Statement(
    "audit_page_by_actor",
    """
    select \(columns) from urd.audit_trail a
    where a.realm = $1 and a.actor = $4 and a.position > $2 order by a.position limit $3
    """)
private let listingByStream = Statement(
    "audit_page_by_stream",
    """
    select \(columns) from urd.event e
    join urd.audit_trail a on a.realm = $1 and a.position = e.position
    where e.realm = $1 and e.stream = $4 and e.position > $2 order by e.version limit $3
    """)
private let listingOfSignIns = Statement(
    "audit_page_of_sign_ins",
    """
    select \(columns) from urd.login_history h
    join urd.audit_trail a on a.realm = $1 and a.position = h.position
    where h.realm = $1 and h.client_id = $4 and h.position > $2 order by h.position limit $3
    """)
