public import Identity
internal import JSON
internal import Postgres
public import Values

/// Where an account is signed in.
public struct OpenSessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: SessionTerms
    /// The name of the app that it was opened for, if that is still there.
    public var app: String?
    public var openedAt: Timestamp
    /// When a token of it was last refreshed, or it was opened.
    public var lastUsedAt: Timestamp

    public init(
        id: UUID, terms: SessionTerms, app: String?, openedAt: Timestamp, lastUsedAt: Timestamp
    ) {
        self.id = id
        self.terms = terms
        self.app = app
        self.openedAt = openedAt
        self.lastUsedAt = lastUsedAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let fields = rows.terms(row, account: 2, 3),
            let terms = SessionTerms(recorded: fields)
        else { return nil }
        self.init(
            id: rows.identifier(row, 1), terms: terms, app: rows.optionalText(row, 4),
            openedAt: rows.instant(row, 5), lastUsedAt: rows.instant(row, 6))
    }
}

/// What an account has that is not over at a time, newest first, from behind `after` on.
public typealias PageOfAccount = (account: UUID, now: Timestamp, after: UUID?, limit: Int)

extension OpenSessionView {
    public static let ofAccount: Question<PageOfAccount, [OpenSessionView]> =
        page.all(Parameters.init)
}

/// Of the account that is asked about: read once, and not for each session.
private let removed =
    "(select x.removed from urd.accounts x where x.realm = $1 and x.account = $2)"
private let moves =
    "(select x.moves from urd.accounts x where x.realm = $1 and x.account = $2)"

/// What ends a session without a word in its own stream ends it here as well.
private let page = RowQuery(
    "session_page_of_account",
    """
    select p.current and a.current and c.current, s.session, s.account, s.terms::text,
        (select x.name from urd.apps x
            where x.realm = $1 and x.app = (s.terms ->> 'app')::uuid),
        s.opened_at, coalesce(s.refreshed_at, s.opened_at)
    from urd.sessions_position p
    join urd.accounts_position a on a.realm = p.realm
    join urd.clients_position c on c.realm = p.realm
    left join lateral (
        select s.* from (
            -- In order first, and only as many are looked at as the page has.
            select t.* from urd.sessions t
            where t.realm = $1 and t.account = $2 and t.session < $3 and t.ended is null
            order by t.session desc offset 0) s
        where (s.terms ->> 'expires_at')::bigint > $5
            and (s.terms ->> 'stamp')::bigint = (
                select x.stamp from urd.accounts x where x.realm = $1 and x.account = $2
                    and not x.disabled)
            and \(movesHold(moves)) and \(AccessRule.keeps(removed, "s.terms"))
            and exists (
                select from urd.clients x
                where x.realm = $1 and x.client = (s.terms ->> 'client')::uuid)
            and not exists (
                select from urd.sessions o
                left join urd.accounts x on x.realm = $1 and x.account = o.account
                where o.realm = $1 and o.session = coalesce(
                        s.terms ->> 'exchanged', s.terms ->> 'opener_session')::uuid
                    and (o.ended is not null or not \(AccessRule.keeps("x.removed", "o.terms"))))
            and (s.terms ->> 'opener_client' is null or exists (
                select from urd.clients x
                where x.realm = $1 and x.client = (s.terms ->> 'opener_client')::uuid))
        order by s.session desc limit $4
    ) s on true
    where p.realm = $1 order by s.session desc
    """, OpenSessionView.init)
