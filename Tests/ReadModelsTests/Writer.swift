import Postgres
import Threads

@testable import ReadModels

/// Appends on a thread of its own, batch after batch, until it is told to stop.
final class Writer: Sendable {
    private struct State {
        var batches = 0
        var isStopping = false
        var isDone = false
        var failure: String?
    }

    private let state = Monitor(State())

    init(_ address: String, realm: String, seed: UInt64) {
        DedicatedThread.startRequired { [state] in
            do {
                let connection = try Connection(address)
                var history = RandomHistory(seed: seed)
                while !state.withLock({ $0.isStopping }) {
                    try World.append(history.events(5), in: realm, connection)
                    state.withLock { $0.batches += 1 }
                    state.wakeAll()
                }
            } catch {
                state.withLock { $0.failure = "\(error)" }
            }
            state.withLock { $0.isDone = true }
            state.wakeAll()
        }
    }

    /// Waits until so many batches were appended.
    func waitForBatches(_ count: Int) {
        state.wait { $0.batches >= count || $0.isDone ? () : nil }
    }

    /// - Returns: what went wrong, if anything did.
    func stop() -> String? {
        state.withLock { $0.isStopping = true }
        return state.wait { $0.isDone ? .some($0.failure) : nil }
    }
}
