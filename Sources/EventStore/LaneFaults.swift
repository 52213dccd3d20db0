import EventSourcing
import JSON
import Postgres
import Telemetry

/// What a lane does when something goes wrong: whoever waits is answered once, whatever happens, and
/// nobody is told what did not happen.
extension Lane {
    /// A batch whose outcome is not known because the connection broke is sent again under the same
    /// command ids: what was committed answers as a duplicate. For this long we try to get there.
    private static var patience: Duration { .seconds(5) }

    private func open() throws(Failure) -> Connection {
        let connection = try Connection(address, application: "urd committer \(number)")
        try connection.run(
            """
            select set_config('synchronous_commit', 'on', false)
                where current_setting('synchronous_commit') in ('off', 'local');
            set lock_timeout = '5s';
            set statement_timeout = '15s';
            set plan_cache_mode = 'force_generic_plan';
            set enable_seqscan = off;
            set jit = off;
            set max_parallel_workers_per_gather = 0;
            select urd.note_timeline()
            """)
        for isJudged in [false, true] {
            let (statement, parameters) = Flight.sending(
                Batch(realm: .system, commands: [], isJudged: isJudged))
            try connection.prepare(statement, parameters)
        }
        return connection
    }

    /// A connection, or nothing and an answer for whoever waits.
    func openOrFail(_ first: Batch) -> Connection? {
        let started = ContinuousClock.now
        do throws(Failure) {
            return try open()
        } catch {
            log.warning("commit.cannot_connect", ["code": .string(error.code)])
            fail(first, .unavailable)
            // Who waited through a slow attempt is not made to wait through the next.
            guard ContinuousClock.now - started > .seconds(1) else { return nil }
            let number = number
            while let next = admission.withLock({ $0.take(lane: number) }) {
                fail(next, .unavailable)
            }
            return nil
        }
    }

    /// Takes the end of a statement that the server refused off the connection. Throws when it was
    /// no refusal: the connection is gone.
    func endRefused(_ connection: Connection, _ failure: Failure) throws(Failure) {
        guard !failure.isConnectionLost, connection.isAlive else { throw failure }
        _ = try? connection.receiveCommit()
        guard connection.isAlive else { throw failure }
    }

    /// The database refused a batch. One command may be to blame: each flies alone.
    func recover(
        _ batch: Batch, from failure: Failure, _ connection: Connection
    ) throws(Failure) {
        metrics.failures.add()
        if let known = reason(failure, batch.realm) {
            fail(batch, known)
            // This server only reads: another connection may find the one that writes.
            if failure.isReadOnly { throw failure }
            return
        }
        log.warning(
            "commit.isolating",
            [
                "code": .string(failure.code), "commands": .integer(Int64(batch.commands.count)),
            ])
        try flyAlone(batch, connection)
    }

    /// What a refusal means where no command is to blame. Nil: one may be.
    private func reason(_ failure: Failure, _ realm: RealmID) -> LogFailure? {
        if failure.code == "UR001" {
            epochs.forget(realm)
            hub.restart(realm)
            return .fenced
        }
        guard failure.isTransient else { return nil }
        log.warning(
            "commit.failed", ["code": .string(failure.code), "why": .string("\(failure)")])
        return LogFailure(failure)
    }

    /// Each command of a batch in a flight of its own.
    private func flyAlone(_ batch: Batch, _ connection: Connection) throws(Failure) {
        for (index, pending) in batch.commands.enumerated() {
            let alone = Batch(
                realm: batch.realm, commands: [pending], isResent: batch.isResent, isJudged: true)
            do throws(Failure) {
                try send(alone, connection)
                pending.settle(try answer(alone, connection))
            } catch {
                // Not known for this one, not begun for the rest: both may be asked again.
                for left in batch.commands[index...] { left.settle(.failure(.unavailable)) }
                land(batch.realm)
                throw error
            }
        }
        land(batch.realm)
    }

    /// The outcome of a single command that flies alone. Throws only when the connection is gone.
    private func answer(
        _ alone: Batch, _ connection: Connection
    ) throws(Failure) -> Pending.Answer {
        var answers: [AppendOutcome]
        do throws(Failure) {
            answers = Flight.answers(try connection.receive(), alone)
        } catch {
            try endRefused(connection, error)
            if let known = reason(error, alone.realm) { return .failure(known) }
            log.error("commit.refused", ["code": .string(error.code)])
            return .failure(.refused)
        }
        do throws(Failure) {
            try connection.receiveCommit()
            answers = try Flight.firstAnswers(answers, alone, connection)
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            return .failure(LogFailure(error))
        }
        guard let answer = answers.first else { return .failure(.unavailable) }
        note(answers, alone.realm)
        return .success(answer)
    }

    /// Batches were in the air when the connection broke. They are sent again: `append` knows the
    /// commands that were committed and gives their first outcome.
    func resolve(_ batches: [Batch], lost process: Int32, over connection: inout Connection?) {
        let deadline = ContinuousClock.now + Self.patience
        var open = batches
        while let batch = open.first, ContinuousClock.now < deadline {
            do throws(Failure) {
                if connection == nil { connection = try reopen(after: process) }
                guard let usable = connection else { break }
                try resend(batch, &open, usable)
            } catch {
                connection = nil
                Thread.sleep(milliseconds: 100)
            }
        }
        for batch in open { fail(batch, .unavailable) }
    }

    /// The server may not know yet that the old connection is gone, and still work for it.
    private func reopen(after process: Int32) throws(Failure) -> Connection {
        let old = try Connection(address)
        try old.run("select pg_terminate_backend(\(process)) where \(process) <> pg_backend_pid()")
        return try open()
    }

    /// Sends a batch once more and settles it. Throws when the connection is gone again.
    private func resend(
        _ batch: Batch, _ open: inout [Batch], _ connection: Connection
    ) throws(Failure) {
        var batch = batch
        batch.isResent = true
        batch.isJudged = true
        try send(batch, connection)
        let answers: [AppendOutcome]
        do throws(Failure) {
            answers = Flight.answers(try connection.receive(), batch)
        } catch {
            try endRefused(connection, error)
            open.removeFirst()
            return try recover(batch, from: error, connection)
        }
        try connection.receiveCommit()
        let firstAnswers = try Flight.firstAnswers(answers, batch, connection)
        open.removeFirst()
        settle(batch, firstAnswers)
    }
}

extension Failure {
    /// Neither a command nor a read model is to blame: the epoch has changed, or it is the world.
    var isNobodysFault: Bool { code == "UR001" || isTransient }
}
