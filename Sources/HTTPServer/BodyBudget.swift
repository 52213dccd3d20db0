internal import Synchronization

/// How much of all bodies together may be in memory: thousands of callers who are not known yet must
/// not get a body's worth each.
final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    /// What one exchange took; given back with it, however it ends.
    final class Share: Sendable {
        private let budget: BodyBudget
        private let taken = Atomic(0)

        init(of budget: BodyBudget) {
            self.budget = budget
        }

        /// False where there is no room.
        func take(_ count: Int) -> Bool {
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
