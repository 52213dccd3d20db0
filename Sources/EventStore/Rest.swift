import Synchronization

extension CommitHub {
    /// Who rests, and since when nothing moved.
    struct Rest {
        /// After so long without a move all logs are still.
        let stillness: Duration
        private var moved = ContinuousClock.now
        private var resting: [UInt64: CheckedContinuation<Void, Never>] = [:]

        init(stillness: Duration) { self.stillness = stillness }

        var isStill: Bool { ContinuousClock.now - moved >= stillness }

        /// Notes a move, and returns the tasks that rest and are to be woken.
        mutating func stir() -> [CheckedContinuation<Void, Never>] {
            moved = .now
            guard !resting.isEmpty else { return [] }
            defer { resting = [:] }
            return Array(resting.values)
        }

        mutating func add(_ id: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
            resting[id] = continuation
        }

        mutating func remove(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
            resting.removeValue(forKey: id)
        }
    }

    /// Ends the rest of those who look for work: some was left that moves no log.
    public func stir() {
        for continuation in state.withLock({ $0.rest.stir() }) { continuation.resume() }
    }

    /// The rest between two looks for work that a log brings: short while any log moves, and until one does once they
    /// have been still for a while.
    ///
    /// What follows the log has the work a moment after the log moved, and what failed is due again later: that is
    /// what looks go on for, and why the longest rest is short.
    /// - Parameters:
    ///   - pause: the rest while logs move.
    ///   - longest: the longest rest while all logs are still.
    public func rest(_ pause: Duration, longest: Duration) async throws {
        guard state.withLock({ $0.rest.isStill }), longest > pause else {
            return try await Task.sleep(for: pause)
        }
        await withTaskGroup { group in
            group.addTask { await self.waitForMove() }
            group.addTask { try? await Task.sleep(for: longest) }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    private func waitForMove() async {
        let id = state.withLock { $0.newID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state -> Bool in
                    if Task.isCancelled || !state.rest.isStill { return true }
                    state.rest.add(id, continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.rest.remove(id) }?.resume()
        }
    }
}
