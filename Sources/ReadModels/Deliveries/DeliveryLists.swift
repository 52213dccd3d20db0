public import EventSourcing
internal import Postgres
public import Values

/// How a subscription's deliveries stand, as administrators are shown it.
public struct DeliveryStanding: Sendable, Equatable {
    public var cursor: LogCursor
    public var waiting: Int
    public var givenUp: Int
    public var blockedSince: Timestamp?
    public var halted: String?
    public var lastStatus: Int?

    public init(
        cursor: LogCursor, waiting: Int, givenUp: Int, blockedSince: Timestamp? = nil,
        halted: String? = nil, lastStatus: Int? = nil
    ) {
        self.cursor = cursor
        self.waiting = waiting
        self.givenUp = givenUp
        self.blockedSince = blockedSince
        self.halted = halted
        self.lastStatus = lastStatus
    }
}

/// An attempt, and whose it is.
public struct RecentAttempt: Sendable, Equatable {
    public var realm: String
    /// What administrators call the webhook.
    public var name: String
    public var attempt: DeliveryAttempt
}

extension DeliveryAttempt {
    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            number: rows.int64(row, 0), position: rows.int64(row, 1), type: rows.text(row, 2),
            at: rows.instant(row, 3), milliseconds: rows.integer(row, 4),
            status: rows.integer(row, 5), outcome: rows.text(row, 6), isReplay: rows.bool(row, 7),
            answer: rows.text(row, 8))
    }
}

/// What administrators ask and do about deliveries.
extension DeliveryStore {
    /// Nil before a node took the subscription in hand.
    public func standing(
        of subscription: UUID, in realm: RealmID
    ) async throws -> DeliveryStanding? {
        try await database.run { connection throws(Failure) in
            let rows = try connection.execute(
                readingStanding, Parameters(in: realm, subscription))
            guard !rows.isEmpty else { return nil }
            return DeliveryStanding(
                cursor: LogCursor(epoch: rows.integer(0, 0), position: rows.int64(0, 1)),
                waiting: Int(rows.int64(0, 2)), givenUp: Int(rows.int64(0, 3)),
                blockedSince: rows.optionalInstant(0, 4), halted: rows.optionalText(0, 5),
                lastStatus: rows.optionalInteger(0, 6))
        }
    }

    /// Those that wait, or that were given up, in the order of the log.
    public func deliveries(
        of subscription: UUID, in realm: RealmID, givenUp: Bool, type: String?, since: Timestamp?,
        after: Int64, limit: Int
    ) async throws -> ListPage<Delivery> {
        try await database.run { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add(givenUp)
            parameters.add(type)
            parameters.add(after)
            parameters.add(Int64(limit))
            parameters.add(time: since?.microseconds)
            return list(try connection.execute(listing, parameters), Delivery.init(_:_:))
        }
    }

    /// The attempts, the newest first.
    public func attempts(
        of subscription: UUID, in realm: RealmID, position: Int64?, outcome: String?,
        since: Timestamp?, before: Int64, limit: Int
    ) async throws -> ListPage<DeliveryAttempt> {
        try await database.run { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add(position)
            parameters.add(outcome)
            parameters.add(time: since?.microseconds)
            parameters.add(before)
            parameters.add(Int64(limit))
            return list(
                try connection.execute(listingAttempts, parameters), DeliveryAttempt.init(_:_:))
        }
    }

    /// The newest of all realms, the newest first.
    public func recentAttempts(limit: Int) async throws -> [RecentAttempt] {
        try await database.run { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(Int64(limit))
            let rows = try connection.execute(listingRecent, parameters)
            return (0..<rows.count).map { row in
                RecentAttempt(
                    realm: rows.text(row, 9), name: rows.text(row, 10),
                    attempt: DeliveryAttempt(rows, row))
            }
        }
    }

    /// The first event of a range, of these types and streams, before which there are as many as are queued at once.
    public func cut(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID,
        most: Int = 100_000
    ) async throws -> Int64? {
        try await database.run { connection throws(Failure) in
            var parameters = asked(range, types, streams, realm)
            parameters.add(Int64(most))
            let rows = try connection.execute(cutting, parameters)
            return rows.isEmpty ? nil : rows.int64(0, 0)
        }
    }

    /// The events of a range that are of these types and streams.
    public func replayable(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws -> [Int64] {
        try await database.run { connection throws(Failure) in
            let rows = try connection.execute(
                listingReplayable, asked(range, types, streams, realm))
            return (0..<rows.count).map { rows.int64($0, 0) }
        }
    }

    /// Has the events of a range sent again that are of these types, and at these positions where some are given. Waiting
    /// deliveries are due at once.
    /// - Returns: the number of events that are sent again.
    public func replay(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], among chosen: [Int64]? = nil,
        order: DeliveryOrder, to subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws -> Int {
        if chosen?.isEmpty == true { return 0 }
        return try await database.run { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add(range.lowerBound)
            parameters.add(range.upperBound)
            parameters.add(texts(types))
            parameters.add(order.rawValue)
            parameters.add(time: now.microseconds)
            parameters.add(ids(streams))
            var positions = ArrayParameter(of: .int8)
            for position in chosen ?? [] { positions.append(position) }
            parameters.add(positions)
            return try connection.execute(replaying, parameters).changed
        }
    }

    /// Sends events again that were given up.
    /// - Returns: the number of events that are sent again.
    public func revive(
        _ subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws -> Int {
        try await database.run { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add(time: now.microseconds)
            return try connection.execute(reviving, parameters).changed
        }
    }
}

private let readingStanding = Statement(
    "subscription_standing",
    """
    select c.epoch, c.position,
        (select count(*) from urd.delivery d where d.realm = c.realm
            and d.subscription = c.subscription and not d.given_up),
        (select count(*) from urd.delivery d where d.realm = c.realm
            and d.subscription = c.subscription and d.given_up),
        c.blocked_since, c.halted, c.last_status
    from urd.subscription_cursor c where c.realm = $1 and c.subscription = $2
    """)
/// Up to where events were looked at for the subscription, and where the log ends: all that is in a list is of before.
private let standing = """
    (select least(coalesce(c.position, 0), h.position) as position, h.position as head
    from urd.realm_log h
    left join urd.subscription_cursor c on c.realm = h.realm and c.subscription = $2
    where h.realm = $1)
    """
private let listing = Statement(
    "deliveries_list",
    """
    select \(deliveryColumns), p.position, p.head from \(standing) p left join lateral (
        select * from urd.delivery d
        where d.realm = $1 and d.subscription = $2 and d.given_up = $3
            and ($4::text is null or d.type = $4) and d.position > $5
            and ($7::timestamptz is null or exists (
                select from urd.event e
                where e.realm = d.realm and e.position = d.position and e.at >= $7))
        order by d.position limit $6) d on true
    order by d.position
    """)
private let listingAttempts = Statement(
    "delivery_attempts_list",
    """
    select a.number, a.position, a.type, a.at, a.milliseconds, a.status, a.outcome, a.replay,
        a.answer, p.position, p.head
    from \(standing) p left join lateral (
        select * from urd.delivery_attempt a
        where a.realm = $1 and a.subscription = $2 and ($3::bigint is null or a.position = $3)
            and ($4::text is null or a.outcome = $4) and ($5::timestamptz is null or a.at >= $5)
            and a.number < $6
        order by a.number desc limit $7) a on true
    order by a.number desc
    """)
private let listingRecent = Statement(
    "delivery_attempts_recent",
    """
    select a.number, a.position, a.type, a.at, a.milliseconds, a.status, a.outcome, a.replay,
        a.answer, a.realm, coalesce(s.terms::json ->> 'name', '')
    from urd.delivery_attempt a left join urd.subscriptions s
        on s.realm = a.realm and s.subscription = a.subscription
    order by a.number desc limit $1
    """)
private func list<Item>(_ rows: Rows, _ item: (Rows, Int) -> Item) -> ListPage<Item> {
    guard !rows.isEmpty else { return .empty }
    return ListPage(
        (0..<rows.count).filter { !rows.isNull($0, 0) }.map { item(rows, $0) },
        position: rows.int64(0, rows.width - 2), head: rows.int64(0, rows.width - 1))
}

private func texts(_ texts: [String]) -> ArrayParameter {
    var array = ArrayParameter(of: .text)
    for text in texts { array.append(text) }
    return array
}

private func ids(_ ids: [UUID]) -> ArrayParameter {
    var array = ArrayParameter(of: .uuid)
    for id in ids { array.append(uuid: (id.high, id.low)) }
    return array
}

private func asked(
    _ range: ClosedRange<Int64>, _ types: [String], _ streams: [UUID], _ realm: RealmID
) -> Parameters {
    var parameters = Parameters()
    parameters.add(realm.name)
    parameters.add(range.lowerBound)
    parameters.add(range.upperBound)
    parameters.add(texts(types))
    parameters.add(ids(streams))
    return parameters
}

private let selectingReplayable = """
    select e.position from urd.event e
    where e.realm = $1 and e.position between $2 and $3 and e.type = any ($4)
        and (cardinality($5::uuid[]) = 0 or e.stream = any ($5::uuid[]))
    order by e.position
    """
private let listingReplayable = Statement("deliveries_replayable", selectingReplayable)
private let cutting = Statement(
    "deliveries_cut", "\(selectingReplayable) offset $6 limit 1")
private let replaying = Statement(
    "deliveries_replay",
    """
    insert into urd.delivery (realm, subscription, position, lane, type, replay, next_at)
    select $1, $2, e.position,
        \(DeliveryOrder.lane(of: "e", stream: "e.stream", in: "$6")),
        e.type, true, $7
    from urd.event e
    where e.realm = $1 and e.position between $3 and $4 and e.type = any ($5)
        and (cardinality($8::uuid[]) = 0 or e.stream = any ($8::uuid[]))
        and (cardinality($9::bigint[]) = 0 or e.position = any ($9::bigint[]))
    order by e.position
    on conflict (realm, subscription, position) do update
        set given_up = false, attempts = 0, replay = true, next_at = excluded.next_at
    """)
private let reviving = Statement(
    "deliveries_revive",
    """
    update urd.delivery set given_up = false, attempts = 0, replay = true, next_at = $3
    where realm = $1 and subscription = $2 and given_up
    """)
