internal import EventSourcing
internal import ReadModels
internal import Synchronization
internal import Telemetry

/// The kept cursors that readers of this node have in hand.
final class FeedLeases: Sendable {
    /// A feed has its lease, and ends it.
    private struct WeakLease {
        weak var lease: FeedLease?
    }

    private let rings: EventRings
    private let lag: Gauge
    private let leases = Mutex<[FeedLeaseName: WeakLease]>([:])

    init(_ rings: EventRings, metrics: Metrics) {
        self.rings = rings
        lag = SubscriptionMetrics.lagEvents(metrics, of: .feed)
    }

    /// Takes a kept cursor in hand for one reader.
    func claim(
        _ name: FeedLeaseName, from start: LogCursor, takingOver: Bool, _ cursors: any FeedCursors
    ) async throws(LogFailure) -> (FeedCursor.Claim, FeedLease?) {
        let claim = try await cursors.claim(name, from: start, takingOver: takingOver)
        guard case .leased = claim else { return (claim, nil) }
        let lease = FeedLease(name, cursors, of: self)
        // Released outside of the lock, which their end takes.
        let known = leases.withLock { leases in
            leases[name] = WeakLease(lease: lease)
            return leases.values.compactMap(\.lease)
        }
        let others = known.filter { $0 !== lease && $0.name.subscription == name.subscription }
        guard !others.isEmpty else { return (claim, lease) }
        // Of claims at once the last one in the database counts, which need not be the last one here. Where it
        // cannot be asked, the watch finds out.
        let asked = others + [lease]
        guard let kept = try? await cursors.renew(asked.map(\.name)) else { return (claim, lease) }
        for lost in asked where !kept.contains(lost.name) { lost.lose() }
        // They learn of it now, and not with their next event.
        rings.wakeAll()
        return (claim, lease)
    }

    func forget(_ lease: FeedLeaseName) {
        leases.withLock { $0[lease] = nil }
    }

    /// Keeps the leases of this node's readers, and finds those that were lost on another one.
    func renew(_ cursors: some FeedCursors) async {
        let leases = self.leases.withLock { $0.compactMapValues(\.lease) }
        guard !leases.isEmpty, let kept = try? await cursors.renew(Array(leases.keys)) else {
            return
        }
        let lost = leases.filter { !kept.contains($0.key) && $0.value.standing == .held }
        for lease in lost.values { lease.lose() }
        if !lost.isEmpty { rings.wakeAll() }
    }

    /// Looks after leases until the task is cancelled.
    func watch(_ cursors: some FeedCursors) async throws {
        var rounds = 0
        while true {
            try await Task.sleep(for: .seconds(2))
            await renew(cursors)
            rounds += 1
            if rounds % 5 == 0, let longest = try? await cursors.longestLag() { lag.set(longest) }
        }
    }
}
