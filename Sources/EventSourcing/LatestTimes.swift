internal import Synchronization
public import Values

/// The latest time that events of each realm have, as far as a node knows it. No decision is made at an
/// earlier one: what a clock that was set back shows may be long over.
public final class LatestTimes: Sendable {
    private let known = Mutex<[RealmID: Timestamp]>([:])

    public init() {}

    public func of(_ realm: RealmID) -> Timestamp? {
        known.withLock { $0[realm] }
    }

    /// The realm that is furthest ahead.
    public var furthest: (realm: RealmID, at: Timestamp)? {
        known.withLock { times in
            times.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { ($0.key, $0.value) }
        }
    }

    public func note(_ at: Timestamp, in realm: RealmID) {
        known.withLock { times in
            if let before = times[realm], before >= at { return }
            times[realm] = at
        }
    }
}
