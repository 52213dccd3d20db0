public import EventSourcing
import JSON
public import Postgres
import Synchronization
public import Telemetry
public import Values

/// The log on PostgreSQL.
public final class PostgresLog: EventLog {
    public let hub: CommitHub
    public let keyring: Keyring
    let database: Database
    private let committer: Committer
    private let encoder: CommitEncoder
    private let tails: StreamTails
    /// Streams that need not be asked for again.
    public let proofs = StreamProofs()
    private let unreadable: UnreadableFields
    /// Of what this node read and appended, and of the heads that other nodes moved.
    public let times = LatestTimes()
    private let configures: @Sendable (String) -> Bool
    private let isNews: @Sendable (NewEvent) -> Bool
    private let appended: @Sendable (NewEvent) -> Void
    private let refusedPoll = Mutex<(at: ContinuousClock.Instant, why: String)?>(nil)
    private let tell: AsyncStream<Recorded>.Continuation
    /// The events that this node appends and a subscriber on it wants at once, for a single reader.
    /// It may miss some, and knows nothing of other nodes: the log has them all.
    public let news: AsyncStream<Recorded>

    /// For the sessions that read. Frequent reads look up by a key; but a plan that was cached
    /// while a table was small would read it from end to end until the next ANALYZE, and a plan for
    /// a realm that was never analyzed takes any index for as good as the key. What a node locked that
    /// is frozen in a transaction is free again after a minute.
    public static let session: Database.Session = { connection throws(Failure) in
        try connection.run(
            """
            set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off;
            set idle_in_transaction_session_timeout = '60s'
            """)
        do throws(Failure) {
            try noteTimeline(connection)
        } catch {
            // Before the first migration there is nothing that could be lost: no schema, no function,
            // or none of this role's.
            guard ["3F000", "42883", "42501"].contains(error.code) else { throw error }
        }
    }

    /// Every session notes which history the server is in, so that the epoch moves before anything
    /// is read or appended. It waits for no standby, which may be nowhere after a failover, and
    /// keeps no other session waiting for one: a lost epoch is never given out again.
    static func noteTimeline(_ connection: Connection) throws(Failure) {
        try connection.run(
            """
            set local lock_timeout = '5s';
            select set_config('synchronous_commit', 'local', true), urd.note_timeline()
            """)
    }

    public init(
        _ database: Database, keyring: Keyring, lanes: Int = 2, waiting: Int = 8192,
        hub: CommitHub = CommitHub(), metrics: Metrics = Metrics(), log: Log = .silent,
        configures: @escaping @Sendable (String) -> Bool = { _ in true },
        isNews: @escaping @Sendable (NewEvent) -> Bool = { _ in false },
        appended: @escaping @Sendable (NewEvent) -> Void = { _ in }
    ) {
        self.appended = appended
        self.configures = configures
        self.isNews = isNews
        (news, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1024))
        self.database = database
        self.keyring = keyring
        self.hub = hub
        unreadable = UnreadableFields(metrics, log)
        encoder = CommitEncoder(keyring: keyring)
        tails = StreamTails(
            database, busy: .busy, unavailable: .unavailable, damaged: .damaged,
            ask: StreamTail.read)
        committer = Committer(
            address: database.address, lanes: lanes, limits: Admission.Limits(waiting: waiting),
            fence: database.fence, keyring: keyring, hub: hub, metrics: CommitMetrics(metrics),
            log: log)
        // Before anything is sealed for the other epoch: the keys may have gone with the lost tail.
        hub.onRestart { keyring.forget($0) }
    }

    /// Answers waiting callers and lets the threads end.
    public func close() {
        committer.close()
        tell.finish()
    }

    /// Commands that wait for their batch.
    public var waiting: Int { committer.waiting }

    /// Sees to it that `commitFault` is known, until the task is cancelled.
    public func tryCommits(every interval: Duration = .seconds(1)) async throws {
        while !Task.isCancelled {
            committer.tryCommits()
            try await Task.sleep(for: interval)
        }
    }

    /// Why nothing can be committed; nil where commits get through. For the operator.
    public var commitFault: String? { committer.fault }

    /// Why appends were refused within the last minute and none was taken since, though commits get through.
    public var appendRefusal: String? { committer.refusal }

    /// Why the log could not be read a moment ago although there was a server; nil where it could.
    public var readFault: String? {
        refusedPoll.withLock { refused in
            guard let refused, refused.at.duration(to: .now) < .seconds(5) else { return nil }
            return refused.why
        }
    }

    /// How often a command is encoded, where others that fly with it may go on losing their keys.
    private static let attempts = 8

    public func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        for _ in 1..<Self.attempts {
            do throws(LogFailure) {
                return try await appendOnce(commit)
            } catch {
                // Nothing of it is in the log, and the lane has made the keyring forget.
                guard error == .keyMissing else { throw error }
            }
        }
        return try await appendOnce(commit)
    }

    private func appendOnce(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        let epoch = commit.epoch == 0 ? hub.epoch(of: commit.realm) : commit.epoch
        let encoded = try await encoder.encode(commit, epoch: epoch)
        let moment = ContinuousClock.now
        let outcome = try await committer.append(encoded).get()
        if case .won(let positions) = outcome {
            proofs.note(encoded, at: moment)
            if positions.count > 0 { times.note(commit.origin.at, in: commit.realm) }
            keyring.keep(encoded.fresh, in: commit.realm, from: encoded.generation)
            for event in commit.events { appended(event) }
            if commit.events.contains(where: { configures($0.name) }) {
                hub.publishConfiguration(
                    Head(epoch: positions.epoch, position: positions.last), of: commit.realm)
            }
            for (index, event) in commit.events.enumerated() where isNews(event) {
                tell.yield(encoded.recorded(index, of: commit, from: positions.first))
            }
        }
        return outcome
    }

    public func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? {
        try await database.tryRun { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            parameters.add(command)
            let rows = try connection.execute(findingOutcome, parameters)
            guard !rows.isEmpty else { return nil }
            guard rows.bytes(0, 3) == digest else { return .misused }
            return .duplicate(
                Positions(
                    epoch: Int(rows.int32(0, 0)), first: rows.int64(0, 1),
                    count: Int(rows.int32(0, 2))))
        }
    }

    public func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        guard let page = try await tail(of: stream, after: version, in: realm) else { return [] }
        return try await open(page)
    }

    public func stream(
        _ stream: UUID, since moment: ContinuousClock.Instant, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        let (epoch, keyring) = (hub.epoch(of: realm), keyring)
        if let known = proofs.find(stream, in: realm, epoch: epoch, since: moment),
            let events = known.opened({ keyring.knownKey(of: $0, in: realm) })
        {
            return events
        }
        let asked = ContinuousClock.now
        guard let page = try await tail(of: stream, after: 0, in: realm) else { return [] }
        let events = try await open(page)
        proofs.keep(page, events, at: asked)
        return events
    }

    private func tail(
        of stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> EventPage? {
        let tail = StreamTail(stream: stream, after: Int32(clamping: version))
        guard let page = try await tails.find(tail, in: realm) else { return nil }
        try check(page, after: version)
        return page
    }

    private func check(_ page: EventPage, after version: Int) throws(LogFailure) {
        if let epoch = page.epoch, !hub.enter(epoch, of: page.realm) { throw .fenced }
        guard page.isWhole(after: version) else { throw .damaged }
        if let latest = page.rows.lazy.map(\.at).max() { times.note(latest, in: page.realm) }
    }

    public func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        let page = try await database.tryRun { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            parameters.add(position)
            parameters.add(Int64(limit))
            return try EventPage(connection.execute(readingLog, parameters), realm)
        }
        if let epoch = page.epoch { hub.enter(epoch, of: realm) }
        return try await open(page)
    }

    /// The events at some positions.
    public func events(
        at positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        let page = try await database.tryRun { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            var array = ArrayParameter(of: .int8)
            for position in positions { array.append(position) }
            parameters.add(array)
            return try EventPage(connection.execute(readingPlaces, parameters), realm)
        }
        if let epoch = page.epoch { hub.enter(epoch, of: realm) }
        return try await open(page)
    }

    public func head(of realm: RealmID) async throws(LogFailure) -> Head {
        let head = try await database.tryRun { [times] connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            let rows = try connection.execute(readingHead, parameters)
            guard !rows.isEmpty else { return Head(epoch: 0, position: 0) }
            if !rows.isNull(0, 2) {
                times.note(Timestamp(microseconds: rows.time(0, 2)), in: realm)
            }
            return Head(epoch: Int(rows.int32(0, 0)), position: rows.int64(0, 1))
        }
        if head.epoch > 0 {
            hub.enter(head.epoch, of: realm)
        } else if hub.epoch(of: realm) > 0 {
            // The whole realm went with a lost tail.
            hub.restart(realm)
        }
        return head
    }

    public func knownEpoch(of realm: RealmID) -> Int {
        hub.epoch(of: realm)
    }

    public func latestTime(in realm: RealmID) -> Timestamp? {
        times.of(realm)
    }

    /// Every realm that something happened in, by name.
    public func realms() async throws(LogFailure) -> [RealmID] {
        try await database.tryRun { connection throws(Failure) in
            let rows = try connection.execute(readingHeads)
            return (0..<rows.count).filter { rows.int64($0, 2) > 0 }
                .compactMap { RealmID(rows.text($0, 0)) }.sorted()
        }
    }

    /// Tells the hub how far other nodes are: one cheap query, again and again, seldom while all logs are still.
    public func pollHeads(every interval: Duration, longest: Duration = .zero) async throws {
        while !Task.isCancelled {
            // Where the database does not answer, another one may be next, with other epochs.
            let isAnswered = await pollHeads()
            try await hub.rest(interval, longest: isAnswered ? longest : .zero)
        }
    }

    /// Once: how far the database is, in which epochs, and of which realms. Of those that moved, the time
    /// of the last event is read as well. Returns whether the database answered.
    @discardableResult
    public func pollHeads() async -> Bool {
        let heads: [(realm: RealmID, head: Head)]
        do {
            heads = try await database.run { [hub, times, keyring] connection throws(Failure) in
                let rows = try connection.execute(readingHeads)
                for row in 0..<rows.count {
                    guard let realm = RealmID(rows.text(row, 0)) else { continue }
                    keyring.note(rows.int32(row, 3), of: realm)
                }
                let heads = (0..<rows.count).compactMap { row in
                    RealmID(rows.text(row, 0)).map {
                        (
                            realm: $0,
                            head: Head(epoch: Int(rows.int32(row, 1)), position: rows.int64(row, 2))
                        )
                    }
                }
                let moved = heads.filter { one in
                    one.head.epoch != hub.epoch(of: one.realm)
                        || one.head.position > hub.head(of: one.realm)
                }
                try times.note(
                    moved.map { (realm: $0.realm, position: $0.head.position) }, connection)
                return heads
            }
        } catch {
            if let failure = error as? Failure, !failure.isConnectionLost {
                refusedPoll.withLock {
                    $0 = (at: ContinuousClock.now, why: failure.description)
                }
            }
            return false
        }
        for one in heads { hub.publish(one.head, of: one.realm) }
        hub.keepOnly(Set(heads.map(\.realm)))
        return true
    }

    /// Forgets the claims that are over.
    public func forgetOldClaims(in realm: RealmID) async throws(LogFailure) -> Int {
        try await database.tryRun { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            return try Int(connection.execute(forgettingClaims, parameters).int64(0, 0))
        }
    }

    /// Forgets the outcomes of commands older than a week.
    public func forgetOldCommands(in realm: RealmID) async throws(LogFailure) -> Int {
        try await database.tryRun { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(realm.name)
            return try Int(connection.execute(forgetting, parameters).int64(0, 0))
        }
    }

    private func open(_ page: EventPage) async throws(LogFailure) -> [Recorded] {
        guard page.hasSealed else { return try page.recorded(keyring, nil) }
        var keys = try await keyring.keys(of: page.realm)
        if !page.isWrapped(under: keys) {
            // Another process has rotated them.
            keyring.forget(page.realm)
            keys = try await keyring.keys(of: page.realm)
        }
        let events = try page.recorded(keyring, keys)
        unreadable.note(events)
        return events
    }
}

let eventColumns = """
    e.position, e.stream, e.version, e.type, e.revision, e.at, e.command, e.subject, e.meta, e.data,
    e.sealed,
    (select coalesce(k.wrapped_by, 0) from urd.subject_key k
        where k.realm = e.realm and k.subject = e.subject and e.sealed is not null),
    (select k.wrapped from urd.subject_key k where k.realm = e.realm and k.subject = e.subject
        and e.sealed is not null),
    (select h.epoch from urd.realm_log h where h.realm = $1), e.leaf
    """

private let readingLog = Statement(
    "event_page",
    """
    select \(eventColumns) from urd.event e
    where e.realm = $1 and e.position >= $2 order by e.position limit $3
    """)
private let readingPlaces = Statement(
    "event_places",
    """
    select \(eventColumns) from urd.event e where e.realm = $1 and e.position = any ($2)
    """)
private let readingHead = Statement(
    "head",
    """
    select h.epoch, h.position,
        (select e.at from urd.event e where e.realm = h.realm and e.position = h.position)
    from urd.realm_log h where h.realm = $1
    """)
/// A damaged head is left out: the other realms are served, and the sealer says which realm is not.
private let readingHeads = Statement(
    "heads",
    """
    select realm, epoch, position, keys from urd.realm_log
    where epoch is not null and position is not null and keys is not null
    """)
private let findingOutcome = Statement(
    "command_outcome",
    """
    select (select h.epoch from urd.realm_log h where h.realm = $1), position, events, digest
    from urd.command where realm = $1 and command = $2
    """)
private let forgetting = Statement("command_forget", "select urd.forget_commands($1)")
private let forgettingClaims = Statement("claim_forget", "select urd.forget_claims($1)")
