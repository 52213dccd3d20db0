import EventSourcing
import JSON
import Postgres
import Telemetry

/// A thread with a connection that flies batches, the next one sent while the last one commits.
///
/// The result of `append` comes before the commit is flushed. That is the moment to send what has
/// gathered meanwhile: the server finds it waiting when the flush is done, and no client round trip
/// falls inside the realm's lock.
final class Lane: Sendable {
    /// A batch whose outcome is not known because the connection broke is sent again under the same
    /// command ids: what was committed answers as a duplicate. For this long we try to get there.
    private static let patience: Duration = .seconds(5)

    private let number: Int
    private let address: String
    private let admission: Monitor<Admission>
    private let epochs: Epochs
    private let hub: CommitHub
    private let metrics: CommitMetrics
    private let log: Log

    init(
        number: Int, address: String, admission: Monitor<Admission>, epochs: Epochs,
        hub: CommitHub, metrics: CommitMetrics, log: Log
    ) {
        self.number = number
        self.address = address
        self.admission = admission
        self.epochs = epochs
        self.hub = hub
        self.metrics = metrics
        self.log = log
    }

    func run() {
        var connection: Connection?
        while let batch = next() {
            fly(batch, over: &connection)
        }
    }

    private func next() -> Batch? {
        let number = number
        return admission.wait { state -> Batch?? in
            if let batch = state.take(lane: number) { return .some(batch) }
            return state.isClosed ? .some(nil) : nil
        }
    }

    /// Flies a batch and all that follow on its heels, until there is a pause or a fault.
    private func fly(_ first: Batch, over connection: inout Connection?) {
        if let usable = connection, !usable.isAlive { connection = nil }
        if connection == nil {
            do {
                connection = try open()
            } catch {
                return fail(first, .unavailable)
            }
        }
        guard let usable = connection else { return }
        var air: [Batch] = [first]
        do {
            try send(first, usable)
            while let current = air.first {
                try land(current, &air, usable)
            }
        } catch {
            metrics.failures.add()
            log.warning("commit.connection_lost", ["detail": .string("\(error)")])
            let lost = usable.serverProcess
            connection = nil
            resolve(air, lost: lost, over: &connection)
        }
    }

    /// Takes the answer of the oldest batch in the air, sends the next one, waits for the commit.
    private func land(
        _ current: Batch, _ air: inout [Batch], _ connection: Connection
    ) throws(Failure) {
        let started = ContinuousClock.now
        let answers: [AppendOutcome]
        do throws(Failure) {
            answers = Flight.answers(try connection.receive(), current)
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            _ = try? connection.receiveCommit()
            guard connection.isAlive else { throw error }
            air.removeFirst()
            return try recover(current, from: error, connection)
        }
        let number = number
        if let following = admission.withLock({ $0.take(lane: number) }) {
            air.append(following)
            try send(following, connection)
        }
        do throws(Failure) {
            try connection.receiveCommit()
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            air.removeFirst()
            // The batch behind it stands by itself; this one was rolled back whole.
            log.error("commit.refused", ["code": .string(error.code)])
            return fail(current, .unavailable)
        }
        air.removeFirst()
        metrics.duration.observe(ContinuousClock.now - started)
        settle(current, answers)
    }

    private func send(
        _ batch: Batch, _ connection: Connection, carefully: Bool = false
    ) throws(Failure) {
        let epoch = epochs.of(batch.realm)
        let statement = carefully || batch.commands.count > 1 ? Flight.careful : Flight.hopeful
        try connection.send(statement, Flight.parameters(batch, epoch: Int32(epoch)))
    }

    private func settle(_ batch: Batch, _ answers: [AppendOutcome]) {
        var last: Int64 = 0
        var events = 0
        for answer in answers {
            switch answer {
            case .won(let at):
                events += at.count
                last = max(last, at.last)
                _ = epochs.note(at.epoch, batch.realm)
            case .duplicate(let at): last = max(last, at.last)
            case .misused, .conflict, .taken: break
            }
            metrics.commands[answer.label].add()
        }
        hub.publish(last, of: batch.realm)
        metrics.batches.add()
        metrics.batchSize.observe(Double(batch.commands.count))
        metrics.events.add(events)
        land(batch.realm)
        for (pending, answer) in zip(batch.commands, answers) { pending.settle(.success(answer)) }
    }

    private func fail(_ batch: Batch, _ failure: LogFailure) {
        land(batch.realm)
        for pending in batch.commands { pending.settle(.failure(failure)) }
    }

    /// The realm is free for any lane again once nothing of it is in the air.
    private func land(_ realm: RealmID) {
        admission.withLock { $0.land(realm) }
        admission.wakeOne()
    }
}

// MARK: - Faults

extension Lane {
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
            select urd.note_timeline()
            """)
        let types = Flight.parameters(Batch(realm: .system, commands: []), epoch: 0)
        try connection.prepare(Flight.careful, types)
        try connection.prepare(Flight.hopeful, types)
        return connection
    }

    /// The database refused a batch. One command may be to blame: each flies alone.
    private func recover(
        _ batch: Batch, from failure: Failure, _ connection: Connection
    ) throws(Failure) {
        if failure.code == "UR001" {
            epochs.forget(batch.realm)
            return fail(batch, .fenced)
        }
        if Flight.needsCare(failure, batch) {
            return try flyAlone(batch, connection)
        }
        guard !failure.isTransient else {
            metrics.failures.add()
            log.warning("commit.failed", ["code": .string(failure.code)])
            return fail(batch, .unavailable)
        }
        guard batch.commands.count > 1 else {
            log.error("commit.refused", ["code": .string(failure.code)])
            return fail(batch, .refused)
        }
        log.warning(
            "commit.isolating",
            [
                "code": .string(failure.code), "commands": .integer(Int64(batch.commands.count)),
            ])
        try flyAlone(batch, connection)
    }

    /// Each command of a batch in a flight of its own.
    private func flyAlone(_ batch: Batch, _ connection: Connection) throws(Failure) {
        for (index, pending) in batch.commands.enumerated() {
            let alone = Batch(realm: batch.realm, commands: [pending])
            do throws(Failure) {
                try send(alone, connection, carefully: true)
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
        let answers: [AppendOutcome]
        do throws(Failure) {
            answers = Flight.answers(try connection.receive(), alone)
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            _ = try? connection.receiveCommit()
            guard connection.isAlive else { throw error }
            log.error("commit.refused", ["code": .string(error.code)])
            return .failure(error.isTransient ? .unavailable : .refused)
        }
        do throws(Failure) {
            try connection.receiveCommit()
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            return .failure(.unavailable)
        }
        guard let answer = answers.first else { return .failure(.unavailable) }
        if case .won(let at) = answer { hub.publish(at.last, of: alone.realm) }
        return .success(answer)
    }

    /// Batches were in the air when the connection broke. They are sent again: `append` knows the
    /// commands that were committed and gives their first outcome.
    private func resolve(_ batches: [Batch], lost process: Int32, over connection: inout Connection?) {
        let deadline = ContinuousClock.now + Self.patience
        var open = batches
        while let batch = open.first, ContinuousClock.now < deadline {
            do throws(Failure) {
                if connection == nil { connection = try reopen(after: process) }
                guard let usable = connection else { break }
                try send(batch, usable, carefully: true)
                let answers = Flight.answers(try usable.receive(), batch)
                try usable.receiveCommit()
                open.removeFirst()
                settle(batch, answers.map(\.asFirstTime))
            } catch {
                if error.code == "UR001" { break }
                connection = nil
                Thread.sleep(milliseconds: 100)
            }
        }
        for batch in open { fail(batch, .unavailable) }
    }
}

extension Lane {
    /// The server may not know yet that the old connection is gone, and still work for it.
    private func reopen(after process: Int32) throws(Failure) -> Connection {
        let old = try Connection(address)
        try old.run("select pg_terminate_backend(\(process)) where \(process) <> pg_backend_pid()")
        return try open()
    }
}

extension AppendOutcome {
    fileprivate var label: String {
        switch self {
        case .won: "won"
        case .duplicate: "duplicate"
        case .misused: "misused"
        case .conflict: "conflict"
        case .taken: "taken"
        }
    }

    /// Our own second sending of a command: what it did the first time is its outcome.
    fileprivate var asFirstTime: AppendOutcome {
        if case .duplicate(let at) = self { .won(at) } else { self }
    }
}
