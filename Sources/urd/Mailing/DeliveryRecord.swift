import EventSourcing
import EventStore
import Identity
import ReadModels
import Synchronization
import Telemetry
import Values

/// Puts on record what became of mails. Results that arrive while others are written is written next,
/// together: the more mails there are, the less each of them costs.
final class DeliveryRecord: Sendable {
    private struct Waiting {
        let delivery: RecordDeliveries.Delivery
        let realm: RealmID
        let continuation: UnsafeContinuation<Void, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var writer: UnsafeContinuation<Void, Never>?
        var isOver = false
    }

    private let store: Store
    private let outcomes: Outcomes
    private let state = Mutex(State())

    init(_ store: Store, of kind: DueWork.Kind) {
        self.store = store
        outcomes = Outcomes(store.metrics, kind == .messages ? "message" : "mail")
    }

    /// Returns when it is on record, or never will be because the process ends.
    func add(_ delivery: RecordDeliveries.Delivery, _ realm: RealmID) async {
        outcomes.count(delivery.outcome)
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let woken: UnsafeContinuation<Void, Never>? = state.withLock { state in
                if state.isOver { return continuation }
                state.waiting.append(
                    Waiting(delivery: delivery, realm: realm, continuation: continuation))
                defer { state.writer = nil }
                return state.writer
            }
            woken?.resume()
        }
    }

    /// Records deliveries until the task is cancelled.
    func write() async {
        await withTaskCancellationHandler {
            while !Task.isCancelled {
                let batch = state.withLock { state in
                    defer { state.waiting = [] }
                    return state.waiting
                }
                if batch.isEmpty { await sleep() }
                for (realm, waiting) in Dictionary(grouping: batch, by: \.realm) {
                    await write(waiting.map(\.delivery), in: realm)
                    for one in waiting { one.continuation.resume() }
                }
            }
        } onCancel: {
            wake { $0.isOver = true }
        }
        for one in state.withLock({ $0.waiting }) { one.continuation.resume() }
    }

    private func sleep() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let isNeeded = state.withLock { state in
                if state.isOver || !state.waiting.isEmpty { return true }
                state.writer = continuation
                return false
            }
            if isNeeded { continuation.resume() }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let writer = state.withLock { state in
            change(&state)
            defer { state.writer = nil }
            return state.writer
        }
        writer?.resume()
    }

    /// However long that takes, a mail that was taken is not sent again by this process.
    private func write(_ deliveries: [RecordDeliveries.Delivery], in realm: RealmID) async {
        guard !Task.isCancelled else { return }
        try? await store.record(
            RecordDeliveries(deliveries, now: store.clock.now()), in: realm, by: "mailer")
    }

    private struct Outcomes: Sendable {
        private let sent: Counter
        private let deferred: Counter
        private let failed: Counter

        init(_ metrics: Metrics, _ thing: String) {
            let all = metrics.counter(
                "urd_\(thing)_attempts_total",
                help: "Attempts to send a \(thing), by what came of them.",
                labels: ["outcome"])
            sent = all.handle(["sent"])
            deferred = all.handle(["deferred"])
            failed = all.handle(["failed"])
        }

        func count(_ outcome: RecordDeliveries.Outcome) {
            switch outcome {
            case .taken: sent.add()
            case .refusedForNow: deferred.add()
            case .refusedForGood: failed.add()
            }
        }
    }
}
