public import EventSourcing
public import Identity
internal import JSON
public import Postgres
public import Values

/// Where an account is signed in, as fresh as the log.
public struct AccountSessions: Sendable {
    public struct Entry: Sendable, Equatable {
        public let id: UUID
        public let terms: SessionTerms
        /// The name of the app that it was opened for, if that is still there.
        public let app: String?
        public let openedAt: Timestamp
        /// When a token of it was last refreshed.
        public let refreshedAt: Timestamp?
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Those that are not over, newest first, from behind `after` on.
    public func page(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(account)
        parameters.add(after ?? UUID(high: .max, low: .max))
        parameters.add(Int64(limit))
        parameters.add(now.seconds)
        return try await CurrentRows.read(listing, parameters, from: database, Entry.init)
    }
}

extension AccountSessions.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard var fields = rows.object(row, 3) else { return nil }
        fields["account"] = .string(rows.identifier(row, 2).description)
        guard let terms = SessionTerms(recorded: fields) else { return nil }
        self.init(
            id: rows.identifier(row, 1), terms: terms, app: rows.optionalText(row, 4),
            openedAt: rows.instant(row, 5),
            refreshedAt: rows.isNull(row, 6) ? nil : rows.instant(row, 6))
    }
}

/// What ends a session without a word in its own stream ends it here as well.
private let listing = Statement(
    "session_page_of_account",
    """
    select p.current and a.current, s.session, s.account, s.terms::text,
        (select x.name from urd.apps x
            where x.realm = $1 and x.app = (s.terms ->> 'app')::uuid),
        s.opened_at, s.refreshed_at
    from urd.sessions_position p
    join urd.accounts_position a on a.realm = p.realm
    left join lateral (
        select s.* from urd.sessions s
        where s.realm = $1 and s.account = $2 and s.session < $3 and s.ended is null
            and (s.terms ->> 'expires_at')::bigint > $5
            and (s.terms ->> 'stamp')::bigint = (
                select x.stamp from urd.accounts x where x.realm = $1 and x.account = $2
                    and not x.disabled)
        order by s.session desc limit $4
    ) s on true
    where p.realm = $1 order by s.session desc
    """)
