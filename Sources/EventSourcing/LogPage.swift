/// Events as they are read without opening what is sealed, and where the log was at that moment.
public struct LogPage: Sendable, Equatable {
    /// Of the moment that the events were read in: what is behind the last of them, and whether a
    /// reader's place still holds, can be told without another look.
    public let epochs: EpochHistory
    public let events: [Recorded]

    public init(epochs: EpochHistory, events: [Recorded]) {
        self.epochs = epochs
        self.events = events
    }

    /// Epoch 0 where the realm has no log.
    public var head: Head { epochs.head }

    /// What follows the position without a gap: a reader has all that is before a hole.
    public func whole(after position: Int64) -> [Recorded] {
        guard let hole = hole(after: position) else { return events }
        return Array(events.prefix { $0.position < hole })
    }

    /// The position that should be there, behind the one that was read from, and is not.
    public func hole(after position: Int64) -> Int64? {
        var next = position + 1
        for event in events {
            guard event.position == next else { return next }
            next += 1
        }
        return events.isEmpty && head.position > position ? next : nil
    }
}
