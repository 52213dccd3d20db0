internal import EventSourcing
internal import Postgres
public import Values

/// Whom and what an event is about, by pseudonymous ids: `docs/event-index.md` says where each is from.
public struct EventReferences: Sendable, Equatable {
    public var account: UUID?
    /// What a client was granted.
    public var session: UUID?
    /// A session of the realm's own pages.
    public var browser: UUID?
    public var client: UUID?
    /// The network of a sign-in, as a pseudonym, and the kind of device.
    public var source: String?
    public var device: String?

    public init(
        account: UUID? = nil, session: UUID? = nil, browser: UUID? = nil, client: UUID? = nil,
        source: String? = nil, device: String? = nil
    ) {
        self.account = account
        self.session = session
        self.browser = browser
        self.client = client
        self.source = source
        self.device = device
    }

    public var isEmpty: Bool { self == EventReferences() }

    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            account: rows.optionalIdentifier(row, 3), session: rows.optionalIdentifier(row, 4),
            browser: rows.optionalIdentifier(row, 5), client: rows.optionalIdentifier(row, 6),
            source: rows.optionalText(row, 7), device: rows.optionalText(row, 8))
    }
}

/// What a model that follows the log answered, and how far in the log it was: of later events it says nothing
/// yet.
public struct ValueAtPosition<Value: Sendable>: Sendable {
    public let value: Value
    public let epoch: Int
    public let position: Int64

    public init(_ value: Value, epoch: Int, position: Int64) {
        self.value = value
        self.epoch = epoch
        self.position = position
    }
}

/// It follows the log at a small distance; `FollowedPosition.reached` waits for it.
extension EventReferences {
    /// The positions of the events about all of what is named, in order, from behind a position on.
    public static let positions = Question<
        (about: EventReferences, after: Int64, limit: Int), ValueAtPosition<[Int64]>
    >("event_positions") { models, realm, asked throws(LogFailure) in
        let question = EventIndexQuestion(
            asked.about, after: asked.after, limit: asked.limit, in: realm)
        return try await models.followed(question.statement, question.parameters) { rows, found in
            found.map { rows.int64($0, 2) }
        }
    }

    /// Whom and what the events at these positions are about. An event that names several accounts has several
    /// references, one that is about none of them has none.
    public static let ofPositions = Question<
        [Int64], ValueAtPosition<[Int64: [EventReferences]]>
    >("event_references") { models, realm, positions throws(LogFailure) in
        var parameters = Parameters(realm: realm.name)
        var array = ArrayParameter(of: .int8)
        for position in positions { array.append(position) }
        parameters.add(array)
        return try await models.followed(EventIndexQuestion.ofPositions, parameters) {
            rows, found in
            found.reduce(into: [:]) { references, row in
                references[rows.int64(row, 2), default: []].append(EventReferences(rows, row))
            }
        }
    }
}

extension ReadModelQueries {
    /// Model and answer are of one snapshot. The third column is null where there is no answer.
    fileprivate func followed<Value: Sendable>(
        _ statement: Statement, _ parameters: Parameters,
        _ read: @escaping @Sendable (Rows, [Int]) -> Value
    ) async throws(LogFailure) -> ValueAtPosition<Value> {
        try await reading { () throws(ReadFailure) in
            try await database.read { connection throws(Postgres.Failure) in
                let rows = try connection.execute(statement, parameters)
                let value = read(rows, (0..<rows.count).filter { !rows.isNull($0, 2) })
                // A realm in which nothing ever happened.
                guard !rows.isEmpty else {
                    return .success(ValueAtPosition(value, epoch: 0, position: 0))
                }
                return .success(
                    ValueAtPosition(
                        value, epoch: Int(rows.int32(0, 0)), position: rows.int64(0, 1)))
            }
        }
    }
}

/// Each combination is a statement of its own, with an index for each condition.
private struct EventIndexQuestion {
    let statement: Statement
    private(set) var parameters: Parameters

    static let ofPositions = Statement(
        "event_index_of_positions",
        """
        select p.epoch, p.position, m.position, m.account, m.session, m.browser, m.client, m.source,
            m.device
        from urd.event_index_position p
        left join urd.event_index m on m.realm = $1 and m.position = any ($2)
        where p.realm = $1 order by m.position, m.ordinal
        """)

    init(
        _ references: EventReferences, after position: Int64, limit: Int, in realm: RealmID
    ) {
        precondition(!references.isEmpty, "A question to the index names an account or a client.")
        var parameters = Parameters(realm: realm.name)
        parameters.add(position)
        parameters.add(Int64(limit))
        var columns: [String] = []
        for (column, id) in [
            ("account", references.account), ("session", references.session),
            ("browser", references.browser), ("client", references.client),
        ] {
            guard let id else { continue }
            columns.append(column)
            parameters.add(id)
        }
        for (column, text) in [("source", references.source), ("device", references.device)] {
            guard let text else { continue }
            columns.append(column)
            parameters.add(text)
        }
        let conditions = columns.enumerated().map { " and m.\($1) = $\($0 + 4)" }.joined()
        statement = Statement(
            "event_index_" + columns.joined(separator: "_"),
            """
            select p.epoch, p.position, i.position
            from urd.event_index_position p
            left join lateral (
                select distinct m.position from urd.event_index m
                where m.realm = $1 and m.position > $2\(conditions)
                order by m.position limit $3
            ) i on true
            where p.realm = $1 order by i.position
            """)
        self.parameters = parameters
    }
}
