public import EventSourcing
internal import Synchronization
public import Values

/// What time it is in a realm: what the clock shows, and never earlier than what is on record there. A
/// clock that was set back, or is behind those of other nodes, would take for good what is long over.
///
/// Until such a clock has caught up, time goes on at half its pace: what is good for ten minutes is good
/// for twenty then, and not until it has caught up.
public final class RealmTime: Sendable {
    private struct Bound {
        let time: Timestamp
        let since: Duration
    }

    private let clock: @Sendable () -> Timestamp
    private let passed: @Sendable () -> Duration
    private let latest: @Sendable (RealmID) -> Timestamp?
    /// Of the realms in which the clock is behind.
    private let bounds = Mutex<[RealmID: Bound]>([:])

    /// - Parameters:
    ///   - clock: shows the time, and may be set back.
    ///   - passed: a monotonic clock.
    ///   - latest: the latest time on record in a realm, as far as it is known.
    public init(
        clock: @escaping @Sendable () -> Timestamp, passed: @escaping @Sendable () -> Duration,
        latest: @escaping @Sendable (RealmID) -> Timestamp?
    ) {
        self.clock = clock
        self.passed = passed
        self.latest = latest
    }

    public func now(in realm: RealmID) -> Timestamp {
        let shown = clock()
        guard let latest = latest(realm), shown < latest else { return shown }
        let passed = passed()
        return bounds.withLock { bounds in
            let slowed = bounds[realm].map { bound in
                bound.time.adding(microseconds: (passed - bound.since).microseconds / 2)
            }
            if let slowed, slowed >= latest { return max(slowed, shown) }
            bounds[realm] = Bound(time: latest, since: passed)
            return latest
        }
    }
}

extension RealmTime {
    convenience init(_ clock: RealmContext.Clock, _ events: any EventLog) {
        self.init(
            clock: clock.now, passed: clock.passed, latest: { events.latestTime(in: $0) })
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
