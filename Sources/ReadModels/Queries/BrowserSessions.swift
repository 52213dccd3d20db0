internal import EventSourcing
public import Identity
internal import JSON
internal import Postgres
public import Values

/// A browser that a person is signed in with.
public struct BrowserSessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: BrowserTerms
    /// The name of the app that it was opened for, if that is still there; of one in a list alone.
    public var app: String?
    /// It ended before its time: by itself, or because its account or its realm may not go on.
    public var isOver: Bool
    /// How often its account has removed access; of one that is asked for by its name.
    public var removals: Int

    public init(
        id: UUID, terms: BrowserTerms, app: String? = nil, isOver: Bool, removals: Int = 0
    ) {
        self.id = id
        self.terms = terms
        self.app = app
        self.isOver = isOver
        self.removals = removals
    }

    private init?(_ rows: Rows, _ row: Int) {
        guard let fields = rows.terms(row, account: 2, 3),
            let terms = BrowserTerms(recorded: fields)
        else { return nil }
        self.init(
            id: rows.identifier(row, 1), terms: terms, app: rows.optionalText(row, 5),
            isOver: rows.bool(row, 4),
            removals: rows.optionalInteger(row, 6) ?? 0)
    }
}

extension BrowserSessionView {
    public static let byID = Question<UUID, BrowserSessionView?>("browser_session_by_id") {
        models, realm, id throws(LogFailure) in
        try await models.find(id, by: models.browserSessionsByID, in: realm)
    }

    public static let ofAccount: Question<PageOfAccount, [BrowserSessionView]> =
        page.all(Parameters.init)

    /// Every read model that has a say must be where the log is.
    static let ofIDs = RowQuery(
        "browser_session_by_id",
        """
        select p.current and a.current and r.current, s.session, s.account, s.terms::text,
            s.ended is not null
                or not coalesce((
                    select not x.disabled and x.stamp = (s.terms ->> 'stamp')::bigint
                        and \(movesHold()) and \(AccessRule.keeps("x.removed", "s.terms"))
                    from urd.accounts x where x.realm = $1 and x.account = s.account), false)
                or not coalesce((
                    select not x.disabled from urd.realms x where x.realm = $1), false),
            null::text,
            (select max(n.value::int) from urd.accounts x, jsonb_each_text(x.removed) n
                where x.realm = $1 and x.account = s.account)
        from urd.browser_sessions_position p
        join urd.accounts_position a on a.realm = p.realm
        join urd.realms_position r on r.realm = p.realm
        left join urd.browser_sessions s on s.realm = $1 and s.session = any ($2)
        where p.realm = $1
        """, Self.init)

    fileprivate static let page = RowQuery(
        "browser_session_page_of_account",
        """
        select p.current and a.current and c.current and o.current, s.session, s.account,
            s.terms::text, false,
            (select x.name from urd.apps x
                where x.realm = $1 and x.app = (s.terms ->> 'app')::uuid),
            null::int
        from urd.browser_sessions_position p
        join urd.accounts_position a on a.realm = p.realm
        join urd.clients_position c on c.realm = p.realm
        join urd.sessions_position o on o.realm = p.realm
        left join lateral (
            select s.* from urd.browser_sessions s
            where s.realm = $1 and s.account = $2 and s.session < $3 and s.ended is null
                and (s.terms ->> 'expires_at')::bigint > $5
                and exists (
                    select from urd.accounts x where x.realm = $1 and x.account = $2
                        and not x.disabled and x.stamp = (s.terms ->> 'stamp')::bigint
                        and \(movesHold()) and \(AccessRule.keeps("x.removed", "s.terms")))
                and (s.terms ->> 'opener_client' is null or exists (
                    select from urd.clients x where x.realm = $1 and not x.disabled
                        and x.client = (s.terms ->> 'opener_client')::uuid))
                and not exists (
                    select from urd.sessions x where x.realm = $1 and x.ended is not null
                        and x.session = (s.terms ->> 'opener_session')::uuid)
                and not exists (
                    select from urd.browser_sessions x where x.realm = $1
                        and x.ended is not null
                        and x.session = (s.terms ->> 'opener_browser')::uuid)
            order by s.session desc limit $4
        ) s on true
        where p.realm = $1 order by s.session desc
        """, Self.init)
}
