internal import Postgres
public import Values

/// A session of an account and the client that uses it, as far as a list of apps has to know: whether it is over is for
/// who asks to find out.
public struct ClientSession: Sendable, Equatable {
    public var id: UUID
    public var clientID: String
    public var lastUsedAt: Timestamp

    public init(id: UUID, clientID: String, lastUsedAt: Timestamp) {
        self.id = id
        self.clientID = clientID
        self.lastUsedAt = lastUsedAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 1), clientID: rows.text(row, 2),
            lastUsedAt: rows.instant(row, 3))
    }
}

extension ClientSession {
    /// Of each client the sessions of an account that were used last, that one first: few, however many there are.
    public static let lastOfClients: Question<UUID, [ClientSession]> = query.all(Parameters.init)
}

private let query = RowQuery(
    "session_last_of_clients",
    """
    select p.current, x.session, x.client_id, x.used
    from urd.sessions_position p
    left join lateral (
        select s.*, row_number() over (partition by s.client_id order by s.used desc) as number
        from (
            select t.session, t.terms ->> 'client_id' as client_id,
                coalesce(t.refreshed_at, t.opened_at) as used
            from urd.sessions t
            where t.realm = $1 and t.account = $2 and t.ended is null) s
    ) x on x.number <= 50
    where p.realm = $1 order by x.used desc
    """, ClientSession.init)
