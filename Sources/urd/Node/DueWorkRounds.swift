import Postgres
import ReadModels
import Synchronization
import Telemetry

/// Takes in hand what a read model holds to be due, some of it at once, on one node at a time; when that
/// node goes, another takes its place.
final class DueWorkRounds: Sendable {
    private let store: Store
    private let queue: DueWork
    private let leadership: Leadership
    private let inHand = Mutex(InFlightWork(limit: 64))

    /// - Parameter name: what the node that does this leads in.
    init(_ kind: DueWork.Kind, of name: String, _ store: Store) {
        self.store = store
        queue = DueWork(kind, store.database)
        leadership = Leadership(of: name, in: store.leases)
    }

    /// Whether this node still does it, to be looked at before what shall not happen twice.
    var isOurs: Bool { leadership.isCertain }

    /// Runs until the task is cancelled. An outage of the database is waited out.
    /// - Parameters:
    ///   - first: what the node that leads does at the beginning of each round.
    ///   - dispatch: says for how long an entry is left alone then: until the read model has seen its
    ///     record at the latest, or it is tried again.
    func run(
        first: @Sendable () async -> Void = {},
        _ dispatch: @escaping @Sendable (DueWork.Entry) async -> Duration
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                await first()
                for entry in await due() {
                    group.addTask {
                        let rest = self.isOurs ? await dispatch(entry) : .zero
                        self.inHand.withLock { $0.settle(entry, until: .now + rest) }
                    }
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private func due() async -> [DueWork.Entry] {
        let enough = inHand.withLock { $0.enough(at: .now) }
        let due = try? await queue.due(at: store.latestTime, limit: enough) { [store] in
            $1 <= store.now(in: $0)
        }
        guard let due else { return [] }
        return inHand.withLock { $0.take(due) }
    }
}
