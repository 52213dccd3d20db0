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

    /// What of it to list. Of several conditions all hold.
    public struct Selection: Sendable {
        public var actor: String?
        public var stream: UUID?
        /// Who signed in with a client, or could not: whoever did it then was nobody yet.
        public var signInsOf: String?
        /// A wire name, or what many begin with up to a dot.
        public var type: String?
        /// From this moment on.
        public var since: Timestamp?
        /// Before this moment.
        public var until: Timestamp?
        public var isNewestFirst = false

        public init(actor: String? = nil, stream: UUID? = nil, signInsOf: String? = nil) {
            self.actor = actor
            self.stream = stream
            self.signInsOf = signInsOf
        }
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// From behind a position on, in the order of the selection.
    public func page(
        of realm: RealmID, _ selection: Selection = Selection(), after position: Int64? = nil,
        limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        try await database.read { connection throws(Postgres.Failure) in
            let question = try AuditQuestion(
                realm, selection, after: position, limit: limit, over: connection)
            let rows = try connection.execute(question.statement, question.parameters)
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
