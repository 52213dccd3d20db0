public import EventSourcing
public import Postgres
public import Values

/// The sessions that are over because of what happened to their account or to what they were opened by, and
/// whose clients are still to hear of it. What is told of a session is in its own stream, so the command looks there again.
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

/// Whether a session ended with its account.
private func isOver(_ session: String, with account: String) -> String {
    """
    (\(account).account is null or \(account).disabled or \(account).deletion_due is not null
        or \(account).stamp <> (\(session).terms ->> 'stamp')::bigint
        or not \(movesHold("\(account).moves", session))
        or not \(AccessRule.keeps("\(account).removed", "\(session).terms")))
    """
}

/// Looks at no session of a realm where no client wants to be told, and of the openers at those alone of the few
/// sessions that have one.
private let listing = Statement(
    "sessions_lapsed",
    """
    with recursive listener as materialized (
        select c.realm, c.client::text as client from urd.clients c
        where c.hears_logout
    ),
    -- Each session with what it was opened by, and that in turn.
    line as (
        select s.realm, s.session, (s.terms ->> 'opener_client')::uuid as client,
            (s.terms ->> 'opener_session')::uuid as opener
        from urd.sessions s
        where s.realm = any (array(select distinct l.realm from listener l))
            and s.ended is null and s.announced and s.has_opener
            and exists (
                select from listener l
                where l.realm = s.realm and l.client = s.terms ->> 'client')
            and (s.terms ->> 'expires_at')::bigint > $1
        union
        select l.realm, l.session, (o.terms ->> 'opener_client')::uuid,
            (o.terms ->> 'opener_session')::uuid
        from line l join urd.sessions o on o.realm = l.realm and o.session = l.opener
        where o.has_opener
    )
    select realm, session from (
        (select s.realm, s.session from urd.sessions s
        left join urd.accounts a on a.realm = s.realm and a.account = s.account
        where s.realm = any (array(select distinct l.realm from listener l))
            and s.ended is null and s.announced
            and exists (
                select from listener l
                where l.realm = s.realm and l.client = s.terms ->> 'client')
            and (s.terms ->> 'expires_at')::bigint > $1 and \(isOver("s", with: "a"))
        order by s.realm, s.session limit $2)
        union
        select l.realm, l.session from line l
        where l.client is not null and not exists (
                select from urd.clients c where c.realm = l.realm and c.client = l.client)
            or l.opener is not null and not exists (
                select from urd.sessions o
                left join urd.accounts a on a.realm = o.realm and a.account = o.account
                where o.realm = l.realm and o.session = l.opener and o.ended is null
                    and (o.terms ->> 'expires_at')::bigint > $1 and not \(isOver("o", with: "a"))
                    and exists (
                        select from urd.clients c where c.realm = o.realm
                            and c.client = (o.terms ->> 'client')::uuid))
    ) lapsed order by realm, session limit $2
    """)
