internal import Synchronization

/// How much of all bodies together may be in memory: thousands of callers who are not known yet must
/// not get a body's worth each. The beginning of each is not counted, so that a few who send large ones
/// slowly keep no user from signing in: it is bounded by the number of connections.
final class BodyBudget: Sendable {
    private let limit: Int
    private let uncounted: Int
    private let used = Atomic(0)

    init(_ limit: Int, uncounted: Int) {
        self.limit = limit
        self.uncounted = uncounted
    }

    /// What one exchange took; given back with it, however it ends.
    final class Share: Sendable {
        private let budget: BodyBudget
        private let arrived = Atomic(0)
        private let taken = Atomic(0)

        init(of budget: BodyBudget) {
            self.budget = budget
        }

        /// False where there is no room.
        func take(_ bytes: Int) -> Bool {
            let (earlier, all) = arrived.add(bytes, ordering: .relaxed)
            let count = max(0, all - budget.uncounted) - max(0, earlier - budget.uncounted)
            guard count > 0 else { return true }
            let before = budget.used.add(count, ordering: .relaxed).oldValue
            guard before <= budget.limit - count else {
                budget.used.subtract(count, ordering: .relaxed)
                return false
            }
            taken.add(count, ordering: .relaxed)
            return true
        }

        deinit {
            budget.used.subtract(taken.load(ordering: .relaxed), ordering: .relaxed)
        }
    }
}
