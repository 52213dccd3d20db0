public import EventSourcing
public import Identity
internal import JSON
public import Postgres
public import Values

/// The browsers that people of a realm are signed in with, as fresh as the log.
public struct BrowserSessions: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let terms: BrowserTerms
        /// Whether it ended before its time: by itself, or because its account or its realm may not
        /// go on.
        public let isOver: Bool
        /// The name of the app that it was opened for, if that is still there; of one in a list alone.
        public private(set) var app: String?
    }

    private let database: Database
    private let byID: LookUp<UUID, Entry>

    public init(_ database: Database) {
        self.database = database
        byID = LookUp(database) { connection, realm, ids in
            var parameters = Parameters(realm: realm.name)
            var array = ArrayParameter(of: .uuid)
            for id in ids { array.append(uuid: (id.high, id.low)) }
            parameters.add(array)
            return CurrentRows.read(
                finding, parameters, over: connection, key: { $0.identifier($1, 1) },
                Entry.init(_:_:))
        }
    }

    public func find(_ id: UUID, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await byID.find(id, in: realm)
    }

    /// Those of an account that are not over, newest first, from behind `after` on.
    public func page(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(account)
        parameters.add(after ?? UUID(high: .max, low: .max))
        parameters.add(Int64(limit))
        parameters.add(now.seconds)
        return try await CurrentRows.read(
            listing, parameters, from: database, Entry.init(listed:_:))
    }
}

extension BrowserSessions.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard var fields = rows.object(row, 3) else { return nil }
        fields["account"] = .string(rows.identifier(row, 2).description)
        guard let terms = BrowserTerms(recorded: fields) else { return nil }
        self.init(id: rows.identifier(row, 1), terms: terms, isOver: rows.bool(row, 4))
    }

    fileprivate init?(listed rows: Rows, _ row: Int) {
        self.init(rows, row)
        app = rows.optionalText(row, 5)
    }
}

/// Every read model that has a say must be where the log is.
private let finding = Statement(
    "browser_session_by_id",
    """
    select p.current and a.current and r.current, s.session, s.account, s.terms::text,
        s.ended is not null
            or not coalesce((
                select not x.disabled and x.stamp = (s.terms ->> 'stamp')::bigint
                from urd.accounts x where x.realm = $1 and x.account = s.account), false)
            or not coalesce((
                select not x.disabled from urd.realms x where x.realm = $1), false)
    from urd.browser_sessions_position p
    join urd.accounts_position a on a.realm = p.realm
    join urd.realms_position r on r.realm = p.realm
    left join urd.browser_sessions s on s.realm = $1 and s.session = any ($2)
    where p.realm = $1
    """)

private let listing = Statement(
    "browser_session_page_of_account",
    """
    select p.current and a.current, s.session, s.account, s.terms::text, false,
        (select x.name from urd.apps x
            where x.realm = $1 and x.app = (s.terms ->> 'app')::uuid)
    from urd.browser_sessions_position p
    join urd.accounts_position a on a.realm = p.realm
    left join lateral (
        select s.* from urd.browser_sessions s
        where s.realm = $1 and s.account = $2 and s.session < $3 and s.ended is null
            and (s.terms ->> 'expires_at')::bigint > $5
            and (s.terms ->> 'stamp')::bigint = (
                select x.stamp from urd.accounts x where x.realm = $1 and x.account = $2
                    and not x.disabled)
        order by s.session desc limit $4
    ) s on true
    where p.realm = $1 order by s.session desc
    """)
