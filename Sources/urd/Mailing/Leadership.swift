import Postgres
import Synchronization

/// That one of several nodes does a thing: whoever holds a lock of the database's for as long as its
/// connection lives.
final class Leadership: Sendable {
    private let database: Database
    private let name: String
    private let last = Mutex<(at: ContinuousClock.Instant, isHeld: Bool)?>(nil)
    /// For so long an answer is good enough: two nodes may do the thing at once for a moment.
    private static let trust = Duration.seconds(1)

    init(of name: String, at address: String) {
        self.name = name
        database = Database(address, connections: 1, application: "urd \(name)")
    }

    /// Asked again and again: a lost connection has lost the lock, and the next one asks for it anew.
    func isHeld() async -> Bool {
        let now = ContinuousClock.now
        if let last = last.withLock({ $0 }), now - last.at < Self.trust { return last.isHeld }
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
