public import EventSourcing
public import Postgres
public import Values

/// Kept cursors of feeds and who reads by them, as rows: they move with each event, and stand in no log.
///
/// A lease is the database's, by its clock: who lost it moves nothing any more, and so sends nothing.
public struct FeedCursorStore: Sendable {
    let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    private func asking<Value: Sendable>(
        _ ask: @escaping @Sendable (Connection) throws(Failure) -> Value
    ) async throws(LogFailure) -> Value {
        do { return try await database.run(ask) } catch { throw .unavailable }
    }

    /// The term of a lease: how long a reader that vanished keeps other readers out.
    static let term = "interval '30 seconds'"

    /// Nil before the first reader of the subscription.
    public func cursor(of subscription: UUID, in realm: RealmID) async throws(LogFailure)
        -> FeedCursor?
    {
        try await asking { connection throws(Failure) in
            let rows = try connection.execute(reading, Parameters(in: realm, subscription))
            return rows.isEmpty ? nil : FeedCursor(rows, 0)
        }
    }

    /// - Parameter start: where the subscription begins, before its first reader.
    public func claim(
        _ lease: FeedLeaseName, from start: LogCursor, takingOver: Bool
    ) async throws(LogFailure) -> FeedCursor.Claim {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: lease.realm, lease.subscription)
            parameters.add(lease.reader)
            parameters.add(Int32(clamping: start.epoch))
            parameters.add(start.position)
            parameters.add(takingOver)
            let claimed = try connection.execute(claiming, parameters)
            if !claimed.isEmpty { return .leased(FeedCursor(claimed, 0)) }
            let rows = try connection.execute(
                reading, Parameters(in: lease.realm, lease.subscription))
            guard !rows.isEmpty, let until = FeedCursor(rows, 0).leasedUntil else {
                return .missing
            }
            return .held(until: until)
        }
    }

    /// Has it on record that the reader may have been sent everything up to here, before it is sent.
    /// - Returns: false where the reader has lost its lease.
    public func permit(_ lease: FeedLeaseName, through cursor: LogCursor) async throws(LogFailure)
        -> Bool
    {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: lease.realm, lease.subscription)
            parameters.add(lease.reader)
            parameters.add(Int32(clamping: cursor.epoch))
            parameters.add(cursor.position)
            return try connection.execute(permitting, parameters).changed == 1
        }
    }

    /// The cursor is one of the log as it is.
    public func acknowledge(
        _ cursor: LogCursor, of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> FeedCursor.Acknowledgement {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add(Int32(clamping: cursor.epoch))
            parameters.add(cursor.position)
            if try connection.execute(acknowledging, parameters).changed == 1 { return .taken }
            let rows = try connection.execute(reading, Parameters(in: realm, subscription))
            return rows.isEmpty ? .missing : .outOfRange(FeedCursor(rows, 0))
        }
    }

    /// Keeps the leases of this node for another term.
    /// - Returns: the leases that the node still has.
    public func renew(_ leases: [FeedLeaseName]) async throws(LogFailure) -> Set<FeedLeaseName> {
        guard !leases.isEmpty else { return [] }
        return try await asking { connection throws(Failure) in
            var realms = ArrayParameter(of: .text)
            var subscriptions = ArrayParameter(of: .uuid)
            var readers = ArrayParameter(of: .uuid)
            for lease in leases {
                realms.append(lease.realm.name)
                subscriptions.append(uuid: (lease.subscription.high, lease.subscription.low))
                readers.append(uuid: (lease.reader.high, lease.reader.low))
            }
            var parameters = Parameters()
            parameters.add([realms, subscriptions, readers])
            let rows = try connection.execute(renewing, parameters)
            let kept = Set((0..<rows.count).map { rows.identifier($0, 0) })
            return Set(leases.filter { kept.contains($0.reader) })
        }
    }

    /// Releases a lease, so that the next reader can have the subscription at once.
    public func release(_ lease: FeedLeaseName) async throws(LogFailure) {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: lease.realm, lease.subscription)
            parameters.add(lease.reader)
            _ = try connection.execute(releasing, parameters)
        }
    }

    /// Has nothing count as sent that is behind a position.
    public func limit(
        _ subscription: UUID, sentTo position: Int64, in realm: RealmID
    ) async throws(LogFailure) {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add(position)
            _ = try connection.execute(limiting, parameters)
        }
    }

    /// Of a subscription that is deleted.
    public func forget(_ subscription: UUID, in realm: RealmID) async throws(LogFailure) {
        try await asking { connection throws(Failure) in
            _ = try connection.execute(forgetting, Parameters(in: realm, subscription))
        }
    }

    /// By how many events the kept cursor that is furthest behind is behind the log, over all realms.
    public func longestLag() async throws(LogFailure) -> Int64 {
        try await asking { connection throws(Failure) in
            try connection.execute(lagging, Parameters()).int64(0, 0)
        }
    }
}

extension FeedCursor {
    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            acknowledged: LogCursor(epoch: rows.integer(row, 0), position: rows.int64(row, 1)),
            sent: rows.int64(row, 2), acknowledgedAt: rows.optionalInstant(row, 3),
            leasedUntil: rows.optionalInstant(row, 4))
    }
}

private let columns = """
    c.epoch, c.position, coalesce(c.sent, c.position), c.last_at,
        case when c.lease_until > now() then c.lease_until end
    """
private let reading = Statement(
    "feed_cursor_read",
    """
    select \(columns) from urd.subscription_cursor c where c.realm = $1 and c.subscription = $2
    """)
/// Nothing comes back where another reader has it, or where the subscription was deleted.
private let claiming = Statement(
    "feed_cursor_claim",
    """
    insert into urd.subscription_cursor as c (
        realm, subscription, leased_by, epoch, position, sent, starts, lease_until)
    select $1, $2, $3, $4, $5, $5, 0, now() + \(FeedCursorStore.term)
    from urd.subscriptions s
    where s.realm = $1 and s.subscription = $2 and s.kind = 'feed' and s.state <> 'deleted'
    on conflict (realm, subscription) do update
        set leased_by = $3, lease_until = now() + \(FeedCursorStore.term)
        where $6 or c.leased_by is null or c.lease_until is null or c.lease_until <= now()
    returning \(columns)
    """)
/// What an earlier epoch was sent counts no more: its positions may be other events now.
private let permitting = Statement(
    "feed_cursor_permit",
    """
    update urd.subscription_cursor c set lease_until = now() + \(FeedCursorStore.term), epoch = $4,
        sent = case when c.epoch = $4 then greatest(c.sent, $5) else $5 end
    where c.realm = $1 and c.subscription = $2 and c.leased_by = $3
    """)
private let acknowledging = Statement(
    "feed_cursor_acknowledge",
    """
    update urd.subscription_cursor c set epoch = $3, position = $4, last_at = now()
    where c.realm = $1 and c.subscription = $2 and c.position <= $4 and c.sent >= $4
    """)
private let renewing = Statement(
    "feed_cursor_renew",
    """
    update urd.subscription_cursor c set lease_until = now() + \(FeedCursorStore.term)
    from unnest($1::text[], $2::uuid[], $3::uuid[]) l(realm, subscription, reader)
    where c.realm = l.realm and c.subscription = l.subscription and c.leased_by = l.reader
        and exists (select from urd.subscriptions s where s.realm = l.realm
            and s.subscription = l.subscription and s.state <> 'deleted')
    returning c.leased_by
    """)
private let releasing = Statement(
    "feed_cursor_release",
    """
    update urd.subscription_cursor set leased_by = null, lease_until = null
    where realm = $1 and subscription = $2 and leased_by = $3
    """)
private let limiting = Statement(
    "feed_cursor_limit",
    """
    update urd.subscription_cursor c set sent = greatest(c.position, least(c.sent, $3))
    where c.realm = $1 and c.subscription = $2
    """)
private let forgetting = Statement(
    "feed_cursor_forget",
    "delete from urd.subscription_cursor where realm = $1 and subscription = $2")
private let lagging = Statement(
    "feed_cursor_lag",
    """
    select coalesce(max(h.position - c.position), 0)
    from urd.subscriptions s
    join urd.subscription_cursor c on c.realm = s.realm and c.subscription = s.subscription
    join urd.realm_log h on h.realm = s.realm
    where s.kind = 'feed' and s.state <> 'deleted'
    """)
