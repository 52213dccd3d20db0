import EventSourcing
import Glibc
import JSON
import Postgres
import Telemetry

/// A thread with a connection that flies batches, the next one sent while the last one commits.
///
/// The result of `append` comes before the commit is flushed. That is the moment to send what has
/// gathered meanwhile: the server finds it waiting when the flush is done, and no client round trip
/// falls inside the realm's lock. A lone command has nothing behind it: it wants to be answered soon,
/// so its result comes together with its commit.
final class Lane: Sendable {
    let number: Int
    let address: String
    let admission: Monitor<Admission>
    let fence: PrimaryFence
    let standing: Monitor<CommitStanding>
    let keyring: Keyring
    let hub: CommitHub
    let metrics: CommitMetrics
    let log: Log

    init(
        number: Int, address: String, admission: Monitor<Admission>, fence: PrimaryFence,
        standing: Monitor<CommitStanding>, keyring: Keyring, hub: CommitHub,
        metrics: CommitMetrics, log: Log
    ) {
        self.number = number
        self.address = address
        self.admission = admission
        self.fence = fence
        self.standing = standing
        self.keyring = keyring
        self.hub = hub
        self.metrics = metrics
        self.log = log
    }

    func run() {
        var connection: Connection?
        var optimism = OptimisticBatching()
        while let work = next() {
            switch work {
            case .batch(let batch): fly(batch, over: &connection, &optimism)
            case .trial: tryCommit(over: &connection)
            }
        }
    }

    private enum Work {
        case batch(Batch)
        case trial
    }

    /// Who sends one command after the other comes back sooner than a thread falls asleep and wakes:
    /// a lane looks out for a moment before it lies down.
    private func next() -> Work? {
        let number = number
        let (work, isMore) = admission.wait(yielding: 100) { state -> (Work?, Bool)? in
            if state.trials.remove(number) != nil { return (.trial, state.waiting > 0) }
            if let batch = state.take(lane: number) { return (.batch(batch), state.waiting > 0) }
            return state.isClosed ? (nil, false) : nil
        }
        if isMore { admission.wakeOne() }
        return work
    }

    /// Flies a batch and all that follow on its heels, until there is a pause or a fault.
    private func fly(
        _ first: Batch, over connection: inout Connection?, _ optimism: inout OptimisticBatching
    ) {
        if let usable = connection, !usable.isAlive || !fence.isCurrent(usable) {
            connection = nil
        }
        if connection == nil { connection = openOrFail(first) }
        guard let usable = connection else { return }
        var air: [Batch] = []
        do {
            try start(first, &air, usable, &optimism)
            while let current = air.first {
                try land(current, &air, usable, &optimism)
            }
        } catch {
            metrics.failures.add()
            log.warning("commit.connection_lost", ["detail": .string("\(error)")])
            let lost = Lost(usable)
            connection = nil
            resolve(air, lost: lost, over: &connection)
        }
    }

    private func start(
        _ batch: Batch, _ air: inout [Batch], _ connection: Connection,
        _ optimism: inout OptimisticBatching
    ) throws(Failure) {
        var batch = batch
        batch.isJudged = !optimism.isJustified()
        air.append(batch)
        try send(batch, connection)
    }

    /// Takes the answer of the oldest batch in the air, sends the next one, waits for the commit.
    private func land(
        _ current: Batch, _ air: inout [Batch], _ connection: Connection,
        _ optimism: inout OptimisticBatching
    ) throws(Failure) {
        let started = ContinuousClock.now
        let answers: [AppendOutcome]
        do throws(Failure) {
            answers = Flight.answers(try connection.receive(), current)
        } catch {
            try endRefused(connection, error)
            air.removeFirst()
            guard current.isJudged || error.isNobodysFault else {
                optimism.fade()
                metrics.judged.add()
                return try start(current, &air, connection, &optimism)
            }
            return try recover(current, from: error, &air, connection)
        }
        let number = number
        // Where the processors are busy, those who are about to append fly with it.
        if !current.isAlone { sched_yield() }
        if !current.isAlone, let following = admission.withLock({ $0.take(lane: number) }) {
            try start(following, &air, connection, &optimism)
        }
        do throws(Failure) {
            try receiveCommit(connection)
        } catch {
            guard !error.isConnectionLost, connection.isAlive else { throw error }
            air.removeFirst()
            // The batch behind it stands by itself; this one was rolled back whole.
            log.error("commit.refused", ["code": .string(error.code)])
            return fail(current, LogFailure(error))
        }
        air.removeFirst()
        metrics.duration.observe(ContinuousClock.now - started)
        settle(current, answers)
    }

    func send(_ batch: Batch, _ connection: Connection) throws(Failure) {
        let (statement, parameters) = Flight.sending(batch)
        try connection.send(statement, parameters, early: !batch.isAlone)
    }

    func settle(_ batch: Batch, _ answers: [AppendOutcome]) {
        noteCommit(isAppend: true)
        note(answers, batch.realm)
        metrics.batches.add()
        metrics.batchSize.observe(Double(batch.commands.count))
        land(batch.realm)
        for (pending, answer) in zip(batch.commands, answers) { pending.settle(.success(answer)) }
    }

    func note(_ answers: [AppendOutcome], _ realm: RealmID) {
        var head = Head(epoch: 0, position: 0)
        var events = 0
        for answer in answers {
            switch answer {
            case .won(let at):
                events += at.count
                head = Head(epoch: at.epoch, position: max(head.position, at.last))
                metrics.won.add()
                continue
            case .duplicate(let at):
                head = Head(epoch: at.epoch, position: max(head.position, at.last))
            case .misused, .conflict, .taken: break
            }
            metrics.commands[answer.label].add()
        }
        hub.publish(head, of: realm)
        metrics.events.add(events)
    }

    func fail(_ batch: Batch, _ failure: LogFailure) {
        land(batch.realm)
        for pending in batch.commands { pending.settle(.failure(failure)) }
    }

    /// The realm is free for any lane again once nothing of it is in the air.
    func land(_ realm: RealmID) {
        let isWaitedFor = admission.withLock { state in
            state.land(realm)
            return state.waiting > 0
        }
        if isWaitedFor { admission.wakeOne() }
    }
}

/// Whether to suppose that all commands of a batch win. Where one lost, more will, and who loses on
/// purpose should not have every batch fly twice: the next ones are judged at once.
private struct OptimisticBatching {
    private var judged = 0

    mutating func isJustified() -> Bool {
        if judged == 0 { return true }
        judged -= 1
        return false
    }

    mutating func fade() { judged = 32 }
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
}
