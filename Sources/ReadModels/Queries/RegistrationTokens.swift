public import EventSourcing
public import Identity
internal import JSON
public import Postgres
public import Values

/// The tokens by which clients register themselves, as fresh as the log.
public struct RegistrationTokens: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let terms: RegistrationTerms
        public let used: Int
        public let createdAt: Timestamp
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// In the order of their ids, from behind `after` on.
    public func page(
        in realm: RealmID, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: realm, after: after, limit: limit), from: database, Entry.init)
    }
}

extension RegistrationTokens.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let scope = try? JSON.parse(Array(rows.text(row, 5).utf8)).array else { return nil }
        self.init(
            id: rows.identifier(row, 1),
            terms: RegistrationTerms(
                label: rows.text(row, 2), uses: Int(rows.int32(row, 3)),
                scope: scope.compactMap(\.string), expiresAt: rows.instant(row, 6)),
            used: Int(rows.int32(row, 4)), createdAt: rows.instant(row, 7))
    }
}

private let listing = Statement(
    "registration_token_page",
    """
    select p.current, t.token, t.label, t.uses, t.used, t.scope::text, t.expires_at, t.created_at
    from urd.registration_tokens_position p
    left join lateral (
        select * from urd.registration_tokens t where t.realm = $1 and t.token > $2
        order by t.token limit $3
    ) t on true
    where p.realm = $1 order by t.token
    """)
