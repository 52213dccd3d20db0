import Postgres

/// A commit of nothing, on the way that all others go: over the lane's own connection, by a
/// prepared statement, flushed, and confirmed by the standbys that commits wait for. It takes no
/// lock.
extension Lane {
    static let trial = Statement(
        "commit_trial", "select pg_logical_emit_message(true, 'urd', 'trial')::text")

    func tryCommit(over connection: inout Connection?) {
        defer { standing.withLock { $0.endTrial(lane: number) } }
        do throws(Failure) {
            if let known = connection, !known.isAlive || !fence.isCurrent(known) {
                connection = nil
            }
            let usable: Connection
            if let connection { usable = connection } else { usable = try open() }
            connection = usable
            try usable.send(Self.trial, Parameters(), early: false)
            _ = try usable.receive()
            try receiveCommit(usable)
            noteCommit()
        } catch {
            connection = nil
            noteFault(error)
        }
    }

    func noteCommit() {
        standing.withLock { $0.commit(lane: number, at: .now) }
    }

    /// In the words of PostgreSQL where no connection came to be: no server takes one more, say.
    func noteFault(_ failure: Failure) {
        standing.withLock {
            $0.fail(lane: number, why: failure.explanation ?? failure.description)
        }
    }
}
