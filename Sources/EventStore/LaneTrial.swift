import Postgres

/// A commit of nothing, on the way that all others go: over the lane's own connection, by a
/// prepared statement, flushed, and confirmed by the standbys that commits wait for. It takes no
/// lock: what others lock is looked at by `WriteBlock`.
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
            try lookForRoom(usable)
        } catch {
            connection = nil
            noteFault(error)
        }
    }

    /// A commit needs no new page, and what is appended does sooner or later.
    private func lookForRoom(_ connection: Connection) throws(Failure) {
        var shortage: String?
        do throws(Failure) {
            try connection.run(DiskTrial.script)
        } catch {
            guard connection.isAlive, !error.isConnectionLost else { throw error }
            // Other refusals, such as a limit to temporary files, say nothing of the disk.
            if error.isDiskFull { shortage = error.description }
        }
        standing.withLock { $0.note(shortage: shortage, lane: number) }
    }

    /// For the operator, where a trial would find nothing: the events may be on a disk of their own.
    func noteRefusal(_ failure: Failure) {
        guard failure.isDiskFull else { return }
        standing.withLock { $0.note(refusal: failure.description, lane: number, at: .now) }
    }

    func noteCommit(isAppend: Bool = false) {
        standing.withLock {
            $0.commit(lane: number, at: .now)
            if isAppend { $0.note(refusal: nil, lane: number, at: .now) }
        }
    }

    /// In the words of PostgreSQL where no connection came to be: no server takes one more, say.
    func noteFault(_ failure: Failure) {
        standing.withLock {
            $0.fail(lane: number, why: failure.explanation ?? failure.description)
        }
    }
}
