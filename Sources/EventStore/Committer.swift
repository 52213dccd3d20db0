import EventSourcing
import Postgres
import Telemetry

/// Group commit: what arrives while a batch is in the air is the next batch. No timer, so an idle
/// log answers at once, and a busy one spreads the cost of a flush over many commands.
final class Committer: Sendable {
    private let admission: Monitor<Admission>
    private let lanes: Int

    init(
        address: String, lanes: Int, limits: Admission.Limits, epochs: Epochs, hub: CommitHub,
        metrics: CommitMetrics, log: Log
    ) {
        admission = Monitor(Admission(limits))
        self.lanes = lanes
        for number in 1...max(1, lanes) {
            let lane = Lane(
                number: number, address: address, admission: admission, epochs: epochs, hub: hub,
                metrics: metrics, log: log)
            Thread.start { lane.run() }
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

    func append(_ commit: EncodedCommit) async -> Pending.Answer {
        await withUnsafeContinuation { continuation in
            let pending = Pending(commit, continuation)
            switch admission.withLock({ $0.admit(pending) }) {
            case .refused: pending.settle(.failure(.busy))
            case .queued: break
            case .queuedForAny: admission.wakeOne()
            }
        }
    }
}
