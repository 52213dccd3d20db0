import Postgres
import Synchronization
import Values

/// The leases of this process, over one session of its own: what waits for the other connections does not keep a
/// lease from being renewed.
final class Leases: Sendable {
    /// How long a node that is frozen or cut off keeps a lease (decision 0155).
    static let term = Duration.seconds(15)

    let node: UUID
    let database: Database

    init(at address: String, fence: PrimaryFence = PrimaryFence()) {
        var random = SystemRandomNumberGenerator()
        node = UUID(high: random.next(), low: random.next())
        database = Database(
            address, connections: 1, application: "urd leases", fence: fence,
            session: { connection throws(Postgres.Failure) in
                // A renewal that a crash takes away is made again: no need to wait for the disk.
                try connection.run("set statement_timeout = '5s'; set synchronous_commit = off")
            })
    }

    /// Releases all leases once their work has ended. Without it another node takes them over a moment later.
    func release() async {
        guard database.isReachable else { return }
        _ = try? await database.run { [node] connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(uuid: (node.high, node.low))
            return try connection.execute(releasing, parameters).changed
        }
    }
}

/// That one of several nodes does a thing: the one that has the lease of this name, a row that it renews.
final class Leadership: Sendable {
    private struct State: Sendable {
        var watch: LeaseWatch
        var asked: ContinuousClock.Instant?
        var isHeld = false
    }

    private let leases: Leases
    private let name: String
    private let term: Duration
    private let state: Mutex<State>

    init(of name: String, in leases: Leases, term: Duration = Leases.term) {
        self.leases = leases
        self.name = name
        self.term = term
        state = Mutex(State(watch: LeaseWatch(node: leases.node, term: term)))
    }

    /// Whether no other node can hold the lease yet, without asking. It is looked at before each thing that shall not
    /// happen twice: who was frozen meanwhile learns here that its term may be over, before it does more.
    var isCertain: Bool { state.withLock { $0.watch.isCertain(at: .now) } }

    /// Asked again and again, which renews the lease.
    func isHeld() async -> Bool {
        let now = ContinuousClock.now
        let last = state.withLock { state -> Bool? in
            if let asked = state.asked, now - asked < term / 15 { return state.isHeld }
            state.asked = now
            return nil
        }
        if let last { return last && isCertain }
        do {
            try await ask()
        } catch {
            state.withLock { $0.watch.noteUnanswered() }
        }
        let isHeld = isCertain
        state.withLock { $0.isHeld = isHeld }
        return isHeld
    }

    private func ask() async throws {
        let asked = ContinuousClock.now
        let row = try await row()
        let step = state.withLock { $0.watch.step(row, asked: asked, now: .now) }
        let isTaking: Bool
        switch step {
        case .keep, .leave: return
        case .renew: isTaking = false
        case .take: isTaking = true
        }
        let sent = ContinuousClock.now
        if try await write(over: row, isTaking: isTaking) {
            state.withLock { $0.watch.noteWritten(asked: sent) }
        }
    }

    private func row() async throws -> LeaseWatch.Row {
        try await leases.database.run { [name] connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(name)
            var rows = try connection.execute(reading, parameters)
            if rows.isEmpty {
                try connection.execute(beginning, parameters)
                rows = try connection.execute(reading, parameters)
            }
            guard !rows.isEmpty else { return LeaseWatch.Row(holder: nil, renewals: 0) }
            return LeaseWatch.Row(
                holder: rows.isNull(0, 0) ? nil : Self.node(rows.uuid(0, 0)),
                renewals: rows.int64(0, 1), hasLostSession: rows.bool(0, 2))
        }
    }

    private static func node(_ id: (high: UInt64, low: UInt64)) -> UUID {
        UUID(high: id.high, low: id.low)
    }

    /// False where another was faster, or where the row is locked, which is not waited for: it would keep the other
    /// leases from being renewed.
    private func write(over row: LeaseWatch.Row, isTaking: Bool) async throws -> Bool {
        try await leases.database.run {
            [name, node = leases.node] connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(name)
            parameters.add(uuid: (node.high, node.low))
            parameters.add(row.renewals)
            guard isTaking else { return try connection.execute(writing, parameters).changed == 1 }
            // Two nodes would hold it if the database forgot this one.
            return try connection.transaction("begin; set local synchronous_commit = local") {
                connection throws(Postgres.Failure) in
                try connection.execute(writing, parameters).changed == 1
            }
        }
    }
}

private let reading = Statement(
    "lease",
    """
    select l.holder, l.renewals,
        coalesce(l.server_started = pg_postmaster_start_time(), false) and not exists (
            select from pg_stat_activity a where a.pid = l.process
                and coalesce(a.backend_start = l.process_started, true))
    from urd.lease l where l.name = $1
    """)
private let beginning = Statement(
    "lease_begin", "insert into urd.lease (name) values ($1) on conflict (name) do nothing")
private let writing = Statement(
    "lease_write",
    """
    update urd.lease set holder = $2, renewals = renewals + 1, process = pg_backend_pid(),
        process_started = (
            select a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()),
        server_started = pg_postmaster_start_time(), renewed_at = clock_timestamp()
    where name = (
        select l.name from urd.lease l where l.name = $1 and l.renewals = $3 for update skip locked)
    """)
private let releasing = Statement(
    "lease_release",
    "update urd.lease set holder = null, renewals = renewals + 1 where holder = $1")
