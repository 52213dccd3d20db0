public import EventSourcing
internal import Identity
public import JSON
internal import Postgres
public import Values

/// What happened in a realm, by whom and when.
public struct AuditEntry: Sendable, Equatable {
    public var position: Int64
    public var at: Timestamp
    /// The event's wire name, such as `client.registered`.
    public var type: String
    public var stream: UUID
    public var actor: String
    public var client: String?
    public var correlation: String?
    /// The event's open fields.
    public var fields: JSONObject
    /// The event itself is gone: the log has a hole here.
    public var isMissing = false

    public init(
        position: Int64, at: Timestamp, type: String, stream: UUID, actor: String,
        client: String? = nil, correlation: String? = nil, fields: JSONObject
    ) {
        self.position = position
        self.at = at
        self.type = type
        self.stream = stream
        self.actor = actor
        self.client = client
        self.correlation = correlation
        self.fields = fields
    }

    init(_ rows: Rows, _ row: Int) {
        self.init(
            position: rows.int64(row, 0), at: rows.instant(row, 1), type: rows.text(row, 2),
            stream: rows.identifier(row, 3), actor: rows.text(row, 4),
            client: rows.optionalText(row, 5), correlation: rows.optionalText(row, 6),
            fields: rows.object(row, 7) ?? [:])
        isMissing = rows.isNull(row, 7)
    }
}

/// Which entries of the audit trail to list. Of several conditions all hold.
public struct AuditSelection: Sendable, Equatable {
    public var actor: String?
    public var stream: UUID?
    /// Who signed in with a client, or could not: they were not signed in at that moment.
    public var signInsOf: String?
    /// A wire name, or what many begin with up to a dot.
    public var type: String?
    /// The start of the range, inclusive.
    public var since: Timestamp?
    /// The end of the range, exclusive.
    public var until: Timestamp?
    public var isNewestFirst = false
    /// What must hold as well: see `filteredAuditTrail`.
    public var filter: FilterExpression?

    public init(actor: String? = nil, stream: UUID? = nil, signInsOf: String? = nil) {
        self.actor = actor
        self.stream = stream
        self.signInsOf = signInsOf
    }
}

/// It follows the log at a small distance.
extension AuditEntry {
    /// From behind a position on, in the order of the selection. Of a stream that lacks an event nothing is listed.
    public static let trail = Question<AuditPage, [AuditEntry]>("audit_trail") {
        models, realm, asked throws(LogFailure) in
        try await models.reading { () throws(ReadFailure) in
            try await models.database.read { connection throws(Postgres.Failure) in
                let positions = try AuditQuestion.positions(
                    realm, asked.selection, after: asked.after, over: connection)
                if let stream = asked.selection.stream {
                    let rows = try connection.execute(checkingStream, Parameters(in: realm, stream))
                    guard rows.bool(0, 0) else { return .failure(.damaged) }
                }
                let question = AuditQuestion(
                    realm, asked.selection, positions, limit: asked.limit)
                let rows = try connection.execute(question.statement, question.parameters)
                return .success((0..<rows.count).map { AuditEntry(rows, $0) })
            }
        }
    }

    /// What happened to an installation, by which evidence, and what it did; oldest first, from behind a
    /// position on.
    public static let ofInstallation = Question<
        (installation: UUID, attestation: UUID?, after: Int64, limit: Int), [AuditEntry]
    >("installation_history") { models, realm, asked throws(LogFailure) in
        let clientID = Installation.clientID(of: asked.installation)
        var selections = [
            AuditSelection(stream: asked.installation),
            AuditSelection(stream: AppKey.stream(of: asked.installation)),
            AuditSelection(actor: "client:\(clientID)"), AuditSelection(signInsOf: clientID),
        ]
        if let attestation = asked.attestation {
            selections.append(AuditSelection(stream: attestation))
        }
        var found: [Int64: AuditEntry] = [:]
        for selection in selections {
            for entry in try await models.ask(
                trail, (selection, asked.after, asked.limit), in: realm)
            {
                guard !entry.isMissing else { throw .damaged }
                found[entry.position] = entry
            }
        }
        return Array(found.values.sorted { $0.position < $1.position }.prefix(asked.limit))
    }
}

/// From behind a position on, in the order of the selection.
public typealias AuditPage = (selection: AuditSelection, after: Int64?, limit: Int)

private let checkingStream = Statement(
    "audit_stream_whole",
    """
    select coalesce((select s.version from urd.stream s where s.realm = $1 and s.stream = $2), 0)
        = (select count(*) from urd.event e where e.realm = $1 and e.stream = $2)
    """)
