public import EventSourcing
public import Postgres
public import Values

/// The sessions that are over because of what happened to their account, and whose clients are still to
/// hear of it. What is told of a session is in its own stream, so the command looks there again.
public struct LapsedSessions: Sendable {
    public struct Entry: Sendable, Hashable {
        public let realm: RealmID
        public let session: UUID
    }

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Of all realms.
    public func page(at now: Timestamp, limit: Int) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters()
        parameters.add(now.seconds)
        parameters.add(Int64(limit))
        return try await database.rows(listing, parameters) { rows, row in
            RealmID(rows.text(row, 0)).map { Entry(realm: $0, session: rows.identifier(row, 1)) }
        }
    }
}

/// Looks at no session of a realm where no client wants to be told.
private let listing = Statement(
    "sessions_lapsed",
    """
    with listener as materialized (
        select c.realm, c.client::text as client from urd.clients c
        where c.hears_logout
    )
    select s.realm, s.session from urd.sessions s
    left join urd.accounts a on a.realm = s.realm and a.account = s.account
    where s.realm = any (array(select distinct l.realm from listener l))
        and s.ended is null and s.announced
        and exists (
            select from listener l where l.realm = s.realm and l.client = s.terms ->> 'client')
        and (s.terms ->> 'expires_at')::bigint > $1
        and (a.account is null or a.disabled or a.deletion_due is not null
            or a.stamp <> (s.terms ->> 'stamp')::bigint
            or not \(movesHold("a.moves")) or not \(AccessRule.keeps("a.removed", "s.terms")))
    order by s.realm, s.session limit $2
    """)
