import EventSourcing
import Postgres
import Synchronization
import Telemetry
import Threads

/// Group commit: what arrives while a batch is in the air is the next batch. No timer, so an idle
/// log answers at once, and a busy one spreads the cost of a flush over many commands.
final class Committer: Sendable {
    private let admission: Monitor<Admission>
    private let lanes: Int
    private let standing: Monitor<CommitStanding>

    init(
        address: String, lanes: Int, limits: Admission.Limits, fence: PrimaryFence,
        keyring: Keyring, hub: CommitHub, metrics: CommitMetrics, log: Log
    ) {
        admission = Monitor(Admission(limits))
        self.lanes = lanes
        standing = Monitor(CommitStanding(lanes: 1...max(1, lanes)))
        for number in 1...max(1, lanes) {
            let lane = Lane(
                number: number, address: address, admission: admission, fence: fence,
                standing: standing, keyring: keyring, hub: hub, metrics: metrics, log: log)
            DedicatedThread.startRequired { lane.run() }
        }
    }

    deinit {
        close()
    }

    func close() {
        let left = admission.withLock {
            $0.isClosed = true
            return $0.drain()
        }
        for pending in left { pending.settle(.failure(.unavailable)) }
        admission.wakeAll()
    }

    var waiting: Int { admission.withLock { $0.waiting } }

    /// Lets those lanes see whether a commit gets through that have not seen one lately.
    func tryCommits() {
        let due = standing.withLock { $0.begin(at: .now) }
        guard !due.isEmpty else { return }
        admission.withLock { $0.trials.formUnion(due) }
        admission.wakeAll()
    }

    /// Why no commit gets through; nil where they do.
    var fault: String? { standing.withLock { $0.fault(at: .now) } }

    /// Why appends were refused of late.
    var refusal: String? { standing.withLock { $0.refusal(at: .now) } }

    func append(_ commit: EncodedCommit) async -> Pending.Answer {
        guard let scope = RequestScope.current else { return await enqueue(commit) }
        let ticket = Ticket(scope)
        return await withTaskCancellationHandler {
            await enqueue(commit, with: ticket)
        } onCancel: {
            scope.leave()
            withdraw(ticket)
        }
    }

    /// A command's place in the queue, for a caller that may give it up.
    private final class Ticket: Sendable {
        let scope: RequestScope
        let pending = Mutex<Pending?>(nil)

        init(_ scope: RequestScope) {
            self.scope = scope
        }
    }

    private func enqueue(
        _ commit: EncodedCommit, with ticket: Ticket? = nil
    ) async -> Pending.Answer {
        await withUnsafeContinuation { continuation in
            let pending = Pending(commit, continuation)
            ticket?.pending.withLock { $0 = pending }
            switch admission.withLock({ $0.admit(pending) }) {
            case .refused: pending.settle(.failure(.busy))
            case .queued: break
            case .queuedForAny: admission.wakeOne()
            }
            // It may have been given up before it stood in the line.
            if let ticket { withdraw(ticket) }
        }
    }

    /// What no lane has taken yet leaves the line with its caller.
    private func withdraw(_ ticket: Ticket) {
        guard ticket.scope.isWithdrawn, let pending = ticket.pending.withLock({ $0 }),
            admission.withLock({ $0.withdraw(pending) })
        else { return }
        pending.settle(.failure(.unavailable))
    }
}
