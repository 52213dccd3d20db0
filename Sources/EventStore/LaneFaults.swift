import EventSourcing
import JSON
import Postgres
import Telemetry
import Threads

/// What a lane does when something goes wrong: each waiting caller is answered exactly once, and no
/// caller is told of a commit that did not happen.
extension Lane {
    /// For so long those wait who come while the outcome of others is being found out.
    private static var patience: Duration { .seconds(5) }
    /// How often a batch is sent whose sending fails.
    private static var sendings: Int { 5 }

    func open() throws(Failure) -> Connection {
        let connection = try fence.connect(address, application: "urd committer \(number)")
        try connection.run(
            """
            select set_config('synchronous_commit', 'on', false)
                where current_setting('synchronous_commit') in ('off', 'local');
            set lock_timeout = '5s';
            set statement_timeout = '15s';
            set plan_cache_mode = 'force_generic_plan';
            set enable_seqscan = off;
            set jit = off;
            set max_parallel_workers_per_gather = 0
            """)
        try PostgresLog.noteTimeline(connection)
        for isJudged in [false, true] {
            let (statement, parameters) = Flight.sending(
                Batch(realm: .system, commands: [], isJudged: isJudged))
            try connection.prepare(statement, parameters)
        }
        try connection.prepare(Self.trial, Parameters())
        // The one before may have ended with a server that lost what it had not yet on disk.
        keyring.forgetAll()
        return connection
    }

    /// A connection, or nothing and an answer for the waiting callers.
    func openOrFail(_ first: Batch) -> Connection? {
        let started = ContinuousClock.now
        do throws(Failure) {
            return try open()
        } catch {
            log.warning(
                "commit.cannot_connect",
                ["code": .string(error.code), "why": .string(error.description)])
            noteFault(error)
            fail(first, .unavailable)
            // Who waited through a slow attempt is not made to wait through the next.
            if ContinuousClock.now - started > .seconds(1) { turnAway() }
            return nil
        }
    }

    /// Tells all who wait for this lane that the database cannot be reached.
    private func turnAway() {
        let number = number
        while let next = admission.withLock({ $0.take(lane: number) }) { fail(next, .unavailable) }
    }

    /// Takes the end of a statement that the server refused off the connection. Throws when it was
    /// no refusal: the connection is gone.
    func endRefused(_ connection: Connection, _ failure: Failure) throws(Failure) {
        guard !failure.isConnectionLost, connection.isAlive else { throw failure }
        _ = try? connection.receiveCommit()
        guard connection.isAlive else { throw failure }
    }

    /// The database refused a batch. One command may be to blame: each flies alone. Those whose outcome
    /// is not known when the connection breaks are in the air again.
    func recover(
        _ batch: Batch, from failure: Failure, _ air: inout [Batch], _ connection: Connection
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
        try flyAlone(batch, &air, connection)
    }

    /// What a refusal means where no command is to blame. Nil: one may be.
    private func reason(_ failure: Failure, _ realm: RealmID) -> LogFailure? {
        if failure.code == "UR001" {
            hub.restart(realm)
            return .fenced
        }
        if failure.code == "UR004" {
            log.warning("commit.key_missing", ["realm": .string(realm.name)])
            keyring.forget(realm)
            return .keyMissing
        }
        guard failure.isTransient else { return nil }
        noteRefusal(failure)
        log.warning(
            "commit.failed", ["code": .string(failure.code), "why": .string("\(failure)")])
        return LogFailure(failure)
    }

    /// Each command of a batch in a flight of its own.
    private func flyAlone(
        _ batch: Batch, _ air: inout [Batch], _ connection: Connection
    ) throws(Failure) {
        for (index, pending) in batch.commands.enumerated() {
            let alone = Batch(
                realm: batch.realm, commands: [pending], isResent: batch.isResent, isJudged: true)
            do throws(Failure) {
                try send(alone, connection)
                pending.settle(try answer(alone, connection))
            } catch {
                // Not known for this one, not begun for the rest.
                var left = batch
                left.commands.removeFirst(index)
                air.insert(left, at: 0)
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
            // A refusal for the moment says nothing of what the first sending came to.
            if alone.isResent, error.isTransient { throw error }
            if let known = reason(error, alone.realm) { return .failure(known) }
            log.error("commit.refused", ["code": .string(error.code)])
            // What is taken already was looked at before, and nothing of ours is null: a row is gone, or a value in it.
            return .failure(damage.contains(error.code) ? .damaged : .refused)
        }
        do throws(Failure) {
            try receiveCommit(connection)
            answers = try Flight.firstAnswers(answers, alone, connection)
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            return .failure(LogFailure(error))
        }
        guard let answer = answers.first else { return .failure(.unavailable) }
        note(answers, alone.realm)
        return .success(answer)
    }

    /// Batches were in the air when the connection broke. They are sent again under the same
    /// command ids: `append` knows the commands that were committed and gives their first outcome.
    /// Until that is known their callers wait, however long it takes: any other answer would be a
    /// guess, and what they did may be done. Who comes meanwhile has not begun, and is not made to
    /// wait.
    func resolve(_ batches: [Batch], lost first: Lost, over connection: inout Connection?) {
        let begun = ContinuousClock.now
        var open = batches
        var lost = [first]
        var sendings = 0
        while let batch = open.first, !isClosed {
            do throws(Failure) {
                if connection == nil { connection = try reopen(after: lost) }
                guard let usable = connection else { break }
                sendings += 1
                // What ends the server each time that it comes is not sent for ever.
                if sendings <= Self.sendings {
                    try resend(batch, &open, usable)
                } else if try isAtRest(lost, usable) {
                    try ask(batch, else: .unavailable, usable)
                    open.removeFirst()
                } else {
                    turnAway()
                    DedicatedThread.sleep(milliseconds: 100)
                    continue
                }
                sendings = 0
            } catch {
                if let failed = connection { lost.append(Lost(failed)) }
                connection = nil
                if ContinuousClock.now - begun > Self.patience { turnAway() }
                DedicatedThread.sleep(milliseconds: 100)
            }
        }
        for batch in open { fail(batch, .unavailable) }
    }

    private var isClosed: Bool { admission.withLock { $0.isClosed } }

    /// A connection that is gone: its process at the server, and which server that was.
    struct Lost {
        let process: Int32
        let history: ServerHistory?

        init(_ connection: Connection) {
            process = connection.serverProcess
            history = connection.history
        }
    }

    /// The server may not know yet that the old connections are gone, and still work for them. What waits
    /// for a synchronous standby is committed: to end that would show it to readers before it is safe.
    private func reopen(after lost: [Lost]) throws(Failure) -> Connection {
        let old = try fence.connect(address)
        try old.run(
            """
            select pg_terminate_backend(pid) from (\(Self.remains(of: lost, at: old))) r
            where wait_event is distinct from 'SyncRep'
            """)
        return try open()
    }

    /// At another server a process of that number is not ours.
    private static func remains(of lost: [Lost], at connection: Connection) -> String {
        let processes = lost.filter { $0.history == connection.history }.map(\.process)
        return """
            select pid, wait_event from pg_stat_activity
            where usename = current_user and pid <> pg_backend_pid()
                and pid = any ('{\(processes.map(String.init).joined(separator: ","))}'::integer[])
            """
    }

    /// Whether the server works for none of them any more: what is not on record now never will be.
    private func isAtRest(_ lost: [Lost], _ connection: Connection) throws(Failure) -> Bool {
        try connection.run(Self.remains(of: lost, at: connection)).isEmpty
    }

    /// Settles a batch by what is on record of it.
    private func ask(
        _ batch: Batch, else failure: LogFailure, _ connection: Connection
    ) throws(Failure) {
        var answers: [AppendOutcome?] = []
        for pending in batch.commands {
            answers.append(try Flight.recorded(pending, batch.realm, connection))
        }
        let found = answers.compactMap(\.self)
        if !found.isEmpty { try connection.execute(Flight.committing) }
        guard fence.isCurrent(connection) else { throw .leftBehind }
        note(found, batch.realm)
        land(batch.realm)
        for (pending, answer) in zip(batch.commands, answers) {
            pending.settle(answer.map { .success($0) } ?? .failure(failure))
        }
    }

    /// Waits for the commit of the oldest batch in the air. One at a server that has been left
    /// behind meanwhile counts for nothing: it goes with that server's log, and no caller is told
    /// of it.
    func receiveCommit(_ connection: Connection) throws(Failure) {
        try connection.receiveCommit()
        guard fence.isCurrent(connection) else { throw .leftBehind }
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
            // The server may still be at work for the old connection, or take no writes now.
            if error.isTransient { throw error }
            // After a failover the log may have what was sent before it, under an epoch of its own.
            if let known = reason(error, batch.realm) {
                metrics.failures.add()
                try ask(batch, else: known, connection)
                open.removeFirst()
                return
            }
            open.removeFirst()
            return try recover(batch, from: error, &open, connection)
        }
        try receiveCommit(connection)
        let firstAnswers = try Flight.firstAnswers(answers, batch, connection)
        open.removeFirst()
        settle(batch, firstAnswers)
    }
}

extension Failure {
    /// Neither a command nor a read model is to blame: the epoch has changed, a key is not there any
    /// more, or it is the world.
    var isNobodysFault: Bool { code == "UR001" || code == "UR004" || isTransient }
}

/// What a unique and a not-null constraint say.
private let damage = ["23505", "23502"]
