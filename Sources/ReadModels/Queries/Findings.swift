internal import EventSourcing
public import Identity
public import JSON
internal import Postgres
public import Values

/// A finding as it stands now.
public struct FindingView: Sendable, Equatable {
    public var id: UUID
    public var rule: FindingRule
    public var level: FindingLevel
    public var account: UUID?
    public var session: UUID?
    /// Pseudonym of a network.
    public var source: String?
    public var actor: String?
    public var positions: [Int64]
    public var firstAt: Timestamp
    public var lastAt: Timestamp
    public var counts: JSONObject
    /// Where it happened, where the rule is about that.
    public var places: [String]
    public var raisedAt: Timestamp
    public var raisedPosition: Int64
    public var closing: Closing?

    public struct Closing: Sendable, Equatable {
        public var at: Timestamp
        public var cause: String
        public var reason: String?
        public var by: String

        public init(at: Timestamp, cause: String, reason: String?, by: String) {
            self.at = at
            self.cause = cause
            self.reason = reason
            self.by = by
        }
    }

    public init(
        id: UUID, _ finding: Finding, raisedAt: Timestamp, raisedPosition: Int64,
        closing: Closing? = nil
    ) {
        self.id = id
        let raised = finding.raised
        rule = raised?.rule ?? .bruteForce
        level = finding.level
        account = raised?.account
        positions = finding.positions
        firstAt = raised?.from ?? raisedAt
        lastAt = raised?.to ?? raisedAt
        counts = JSONObject(
            (raised?.counts ?? [:]).sorted { $0.key < $1.key }
                .map { ($0.key, .integer(Int64($0.value))) })
        places = raised?.places ?? []
        self.raisedAt = raisedAt
        self.raisedPosition = raisedPosition
        self.closing = closing
        switch raised?.about {
        case .session(let id): session = id
        case .source(let name): source = name
        case .actor(let name): actor = name
        case .account, .realm, nil: break
        }
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let rule = FindingRule(rawValue: rows.text(row, 2)),
            let level = FindingLevel(rawValue: rows.text(row, 3))
        else { return nil }
        id = rows.identifier(row, 1)
        self.rule = rule
        self.level = level
        account = rows.optionalIdentifier(row, 4)
        session = rows.optionalIdentifier(row, 5)
        source = rows.optionalText(row, 6)
        actor = rows.optionalText(row, 7)
        positions = rows.text(row, 8).split(separator: " ").compactMap { Int64($0) }
        firstAt = rows.instant(row, 9)
        lastAt = rows.instant(row, 10)
        counts = rows.object(row, 11) ?? [:]
        places = rows.optionalText(row, 18)?.split(separator: "|").map(String.init) ?? []
        raisedAt = rows.instant(row, 12)
        raisedPosition = rows.int64(row, 13)
        if let at = rows.optionalInstant(row, 14) {
            closing = Closing(
                at: at, cause: rows.text(row, 15), reason: rows.optionalText(row, 16),
                by: rows.text(row, 17))
        }
    }
}

/// Which findings to list. Of several conditions all hold.
public struct FindingSelection: Sendable, Equatable {
    public var isOpen: Bool?
    public var rule: FindingRule?
    public var account: UUID?
    /// Pseudonym of a network.
    public var source: String?

    public init(
        isOpen: Bool? = nil, rule: FindingRule? = nil, account: UUID? = nil, source: String? = nil
    ) {
        self.isOpen = isOpen
        self.rule = rule
        self.account = account
        self.source = source
    }
}

extension FindingView {
    public static let byID: Question<UUID, FindingView?> = columns.find(
        "finding_by_id", where: "m.finding = $2"
    ).first(Parameters.init)
    /// Newest first, from behind an id on.
    public static let page = Question<
        (selection: FindingSelection, after: UUID?, limit: Int), ListPage<FindingView>
    >("findings") { models, realm, asked throws(LogFailure) in
        var parameters = Parameters(
            in: realm, after: asked.after ?? UUID(high: .max, low: .max), limit: asked.limit)
        parameters.add(asked.selection.isOpen)
        parameters.add(asked.selection.rule?.rawValue)
        parameters.add(asked.selection.source)
        guard let account = asked.selection.account else {
            return try await models.list(ofAll, parameters)
        }
        parameters.add(account)
        return try await models.list(ofAccount, parameters)
    }
}

private let columns = Columns(
    of: "findings", key: "finding",
    """
    m.rule, m.level, m.account, m.session, m.source, m.about_actor,
    array_to_string(m.positions, ' '), m.first_at, m.last_at, m.counts, m.raised_at,
    m.raised_position, m.closed_at, m.cause, m.reason, m.closed_by,
    array_to_string(m.places, '|')
    """, FindingView.init)
private let selected = """
    m.finding < $2 and ($4::boolean is null or (m.closed_at is null) = $4)
    and ($5::text is null or m.rule = $5) and ($6::text is null or m.source = $6)
    """
private let ofAll = columns.page("finding_page", where: selected, descending: true)
private let ofAccount = columns.page(
    "finding_page_of_account", where: "m.account = $7 and \(selected)", descending: true)
