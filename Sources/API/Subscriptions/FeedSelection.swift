internal import EventSourcing
internal import Values

/// Which of some events are sent.
struct FeedSelection: Sendable {
    let filter: EventFilter
    /// Nil: all that the filter wants.
    var positions: Set<Int64>?

    func wants(_ event: Recorded) -> Bool {
        guard let positions, !filter.always.contains(event.name) else {
            return filter.wants(event)
        }
        return positions.contains(event.position) && filter.wants(event)
    }
}

/// When a feed ends because what let its reader in expires.
struct FeedExpiry: Sendable {
    let at: Timestamp
    let now: @Sendable () -> Timestamp

    var isOver: Bool { now() >= at }

    /// Seconds until the deadline; at least one.
    var seconds: UInt64 {
        UInt64(max(1, at.seconds - now().seconds))
    }
}
