import Postgres
import Synchronization

/// That one of several nodes does a thing: the one that holds a lock of the database's for as long as its
/// session lives. The database ends a session that says nothing for a term: a node that is frozen or cut
/// off loses the lock, and another gets it (decision 0072).
final class Leadership: Sendable {
    private let database: Database
    private let name: String
    private let term: Duration
    private let last = Mutex<(at: ContinuousClock.Instant, isHeld: Bool)?>(nil)

    init(
        of name: String, at address: String, fence: PrimaryFence = PrimaryFence(),
        term: Duration = .seconds(30)
    ) {
        self.name = name
        self.term = term
        database = Database(
            address, connections: 1, application: "urd \(name)", fence: fence,
            session: { connection throws(Postgres.Failure) in
                try connection.run("set idle_session_timeout = \(Int(term / .milliseconds(1)))")
            })
    }

    /// Whether no other node can hold the lease yet, without asking. It is looked at before each thing that shall not
    /// happen twice: who was frozen meanwhile learns here that its term may be over, before it does more.
    /// The term began at the database later than here, and a third of it is left for clocks that differ.
    var isCertain: Bool {
        guard let last = last.withLock({ $0 }) else { return false }
        return last.isHeld && ContinuousClock.now - last.at < term * 2 / 3
    }

    /// Asked again and again, which keeps the session alive: a lost one has lost the lock, and the next one
    /// asks for it anew.
    func isHeld() async -> Bool {
        let now = ContinuousClock.now
        if let last = last.withLock({ $0 }), now - last.at < term / 30 { return last.isHeld }
        let isHeld = await ask()
        last.withLock { $0 = (now, isHeld) }
        return isHeld
    }

    private func ask() async -> Bool {
        let name = name
        let held = try? await database.run { connection throws(Postgres.Failure) in
            var parameters = Parameters()
            parameters.add(name)
            return try connection.execute(asking, parameters).bool(0, 0)
        }
        return held ?? false
    }
}

/// A session may take its own lock again without waiting; it is counted, and all is let go of when
/// the session ends.
private let asking = Statement(
    "leadership",
    """
    select case when exists (
            select from pg_locks l where l.pid = pg_backend_pid() and l.locktype = 'advisory'
                and l.granted and l.classid = 7355610 and l.objid = hashtext($1)::oid)
        then true else pg_try_advisory_lock(7355610, hashtext($1)) end
    """)
