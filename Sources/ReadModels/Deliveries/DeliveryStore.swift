public import EventSourcing
public import Postgres
public import Values

/// How far each subscription is, and what of it is not done yet: rows, which change with each delivery.
public struct DeliveryStore: Sendable {
    let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    /// Where a subscription begins, if it has to.
    public struct Start: Sendable {
        public var cursor: LogCursor
        /// Number of starts at a named position, with this one.
        public var count: Int
        /// How often the subscription was begun, this time included. An administrator who resumes it says that the
        /// receiver is there again: failures of before count no more, and deliveries that wait are tried at once.
        public var runs: Int
        /// Whether erasures that are passed over are delivered all the same.
        public var keepsErasures: Bool
        /// The order that the webhook has now: deliveries that wait are put into its lanes.
        public var order: DeliveryOrder

        public init(
            _ cursor: LogCursor, count: Int, runs: Int, keepsErasures: Bool = false,
            order: DeliveryOrder = .stream
        ) {
            self.cursor = cursor
            self.count = count
            self.runs = runs
            self.keepsErasures = keepsErasures
            self.order = order
        }
    }

    /// Takes a subscription in hand: who had it before changes nothing any more.
    public func claim(
        _ subscription: UUID, in realm: RealmID, by lease: UUID, from start: Start
    ) async throws -> (progress: DeliveryProgress, waiting: [Delivery]) {
        try await database.run { connection throws(Failure) in
            try connection.transaction { connection throws(Failure) in
                let before = try connection.execute(
                    looking, Parameters(in: realm, subscription))
                var parameters = Parameters(in: realm, subscription)
                parameters.add(Int32(clamping: start.cursor.epoch))
                parameters.add(start.cursor.position)
                parameters.add(Int32(clamping: start.count))
                parameters.add(lease)
                parameters.add(Int32(clamping: start.runs))
                let rows = try connection.execute(claiming, parameters)
                if before.count == 1, before.integer(0, 0) < start.count {
                    var parameters = Parameters(in: realm, subscription)
                    parameters.add(start.keepsErasures)
                    try connection.execute(emptying, parameters)
                    if start.keepsErasures {
                        var parameters = Parameters(in: realm, subscription)
                        parameters.add(before.int64(0, 2))
                        parameters.add(start.cursor.position)
                        try connection.execute(keepingErasures, parameters)
                    }
                }
                if before.count == 1, before.integer(0, 1) < start.runs {
                    try connection.execute(hastening, Parameters(in: realm, subscription))
                }
                var ordered = Parameters(in: realm, subscription)
                ordered.add(start.order.rawValue)
                try connection.execute(reordering, ordered)
                let waiting = try connection.execute(
                    readingWaiting, Parameters(in: realm, subscription))
                return (
                    DeliveryProgress(rows, 0),
                    (0..<waiting.count).map { Delivery(waiting, $0) }
                )
            }
        }
    }

    /// The changes of one step.
    public struct Step: Sendable {
        public var progress: DeliveryProgress
        public var parked: [Delivery] = []
        /// Settled positions, none of which is parked as well.
        public var settled: [Int64] = []
        public var attempts: [DeliveryAttempt] = []

        public init(_ progress: DeliveryProgress) {
            self.progress = progress
        }
    }

    /// Outcome and cursor move together.
    /// - Returns: false where another node has the subscription in hand: nothing was written.
    public func write(
        _ step: Step, of subscription: UUID, in realm: RealmID, by lease: UUID
    ) async throws -> Bool {
        try await database.run { connection throws(Failure) in
            var parameters = step.progress.parameters(of: subscription, in: realm, by: lease)
            var settled = ArrayParameter(of: .int8)
            for position in step.settled { settled.append(position) }
            parameters.add([settled] + step.parked.arrays + step.attempts.arrays)
            return try connection.execute(moving, parameters).count == 1
        }
    }

    /// Lists an attempt that moves no cursor.
    public func note(
        _ attempt: DeliveryAttempt, of subscription: UUID, in realm: RealmID
    ) async throws {
        try await database.run { connection throws(Failure) in
            var parameters = Parameters(in: realm, subscription)
            parameters.add([attempt].arrays)
            _ = try connection.execute(noting, parameters)
        }
    }

    /// Forgets those of a realm that are there no more.
    public func keepOnly(_ subscriptions: [UUID], in realm: RealmID) async throws {
        try await database.run { connection throws(Failure) in
            let parameters = Parameters(in: realm, any: subscriptions)
            for statement in forgetting { try connection.execute(statement, parameters) }
        }
    }

    /// Forgets attempts from before a time.
    public func prune(before time: Timestamp, in realm: RealmID) async throws {
        try await database.run { connection throws(Failure) in
            var parameters = Parameters(realm: realm.name)
            parameters.add(time: time.microseconds)
            try connection.execute(pruning, parameters)
        }
    }
}

private let looking = Statement(
    "subscription_look",
    """
    select c.starts, c.runs, c.position from urd.subscription_cursor c
    where c.realm = $1 and c.subscription = $2 for update
    """)
private let claiming = Statement(
    "subscription_claim",
    """
    insert into urd.subscription_cursor as c (
        realm, subscription, epoch, position, starts, leased_by, runs)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (realm, subscription) do update set
        leased_by = $6,
        epoch = case when c.starts < $5 then $3 else c.epoch end,
        position = case when c.starts < $5 then $4 else c.position end,
        done = case when c.starts < $5 then '{}' else c.done end,
        failures = case when c.runs < $7 then 0 else c.failures end,
        blocked_since = case when c.runs < $7 then null else c.blocked_since end,
        rests_until = case when c.runs < $7 then null else c.rests_until end,
        starts = greatest(c.starts, $5), runs = greatest(c.runs, $7)
    returning c.epoch, c.position, c.done, c.blocked_since, c.failures, c.rests_until, c.halted,
        c.last_status
    """)
private let hastening = Statement(
    "deliveries_hasten",
    """
    update urd.delivery set next_at = now()
    where realm = $1 and subscription = $2 and not given_up and next_at > now()
    """)
/// An administrator named another place to go on from: what waited is not wanted any more.
private let emptying = Statement(
    "deliveries_empty",
    """
    delete from urd.delivery where realm = $1 and subscription = $2 and not given_up
        and not ($3 and type = 'account.erased')
    """)
/// Those that had personal data are told of each erasure.
private let keepingErasures = Statement(
    "deliveries_keep_erasures",
    """
    insert into urd.delivery (realm, subscription, position, lane, type, next_at)
    select $1, $2, e.position, e.stream, e.type, now()
    from urd.event e
    where e.realm = $1 and e.position > $3 and e.position <= $4 and e.type = 'account.erased'
    on conflict (realm, subscription, position) do nothing
    """)
/// An administrator named another order. Only rows that stand in a lane of no stream are looked up in the log.
private let reordering = Statement(
    "deliveries_reorder",
    """
    update urd.delivery d set lane = \(laneInOrder)
    where d.realm = $1 and d.subscription = $2 and not d.given_up and case $3::text
        when 'stream' then d.lane < '00000001-0000-0000-0000-000000000000'::uuid
        else d.lane <> \(DeliveryOrder.lane(of: "d", stream: "d.lane", in: "$3")) end
    """)
private let laneInOrder = DeliveryOrder.lane(
    of: "d",
    stream: """
        coalesce((select e.stream from urd.event e
            where e.realm = d.realm and e.position = d.position), d.lane)
        """, in: "$3")
let deliveryColumns = """
    d.position, d.lane, d.type, d.attempts, d.replay, d.given_up, d.status, d.next_at
    """
private let readingWaiting = Statement(
    "deliveries_waiting",
    """
    select \(deliveryColumns) from urd.delivery d
    where d.realm = $1 and d.subscription = $2 and not d.given_up order by d.position
    """)
/// All of a step at once: a webhook that is behind takes thousands of them a second.
private let moving = Statement(
    "subscription_move",
    """
    with moved as (
        update urd.subscription_cursor set epoch = $4, position = $5, done = $6,
            blocked_since = $7, failures = $8, rests_until = $9, halted = $10, last_status = $11,
            last_at = now()
        where realm = $1 and subscription = $2 and leased_by = $3
        returning realm, subscription
    ), settled as (
        delete from urd.delivery d using moved m
        where d.realm = m.realm and d.subscription = m.subscription and d.position = any ($12)
    ), parked as (
        insert into urd.delivery as d (
            realm, subscription, position, lane, type, attempts, replay, given_up, status, next_at)
        select m.realm, m.subscription, u.* from moved m, unnest(
            $13::bigint[], $14::uuid[], $15::text[], $16::integer[], $17::boolean[],
            $18::boolean[], $19::integer[], $20::timestamptz[]) u
        on conflict (realm, subscription, position) do update set attempts = excluded.attempts,
            given_up = excluded.given_up, status = excluded.status, next_at = excluded.next_at
            -- What was asked for again, while the last attempt was under way, is due as it was asked for.
            where excluded.replay or not d.replay
    ), noted as (
        insert into urd.delivery_attempt (
            realm, subscription, position, type, at, milliseconds, status, outcome, replay, answer)
        select m.realm, m.subscription, u.* from moved m, unnest(
            $21::bigint[], $22::text[], $23::timestamptz[], $24::integer[], $25::integer[],
            $26::text[], $27::boolean[], $28::text[]) u
    )
    select from moved
    """)
private let noting = Statement(
    "delivery_attempts_note",
    """
    insert into urd.delivery_attempt (
        realm, subscription, position, type, at, milliseconds, status, outcome, replay, answer)
    select $1, $2, u.* from unnest(
        $3::bigint[], $4::text[], $5::timestamptz[], $6::integer[], $7::integer[], $8::text[],
        $9::boolean[], $10::text[]) u
    """)
private let forgetting = ["subscription_cursor", "delivery", "delivery_attempt"].map {
    Statement(
        "\($0)_forget", "delete from urd.\($0) where realm = $1 and subscription <> all ($2)")
}
private let pruning = Statement(
    "delivery_attempts_prune", "delete from urd.delivery_attempt where realm = $1 and at < $2")
