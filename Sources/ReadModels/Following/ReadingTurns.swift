import Synchronization

/// Admits a few readers at a time, in the order of their arrival.
final class ReadingTurns: Sendable {
    private struct State {
        var free: Int
        var nextID: UInt64 = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// Nil where the task was cancelled before its turn came.
    func pass<Value, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard await enter() else { return nil }
        defer { leave() }
        return try await work()
    }

    private func enter() async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let index = state.waiting.firstIndex { $0.id == id }
                return index.map { state.waiting.remove(at: $0).continuation }
            }
            continuation?.resume(returning: false)
        }
    }

    private func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
