internal import EventSourcing
internal import Values

/// How long a replay waits before an event: what lay between it and the one before, as many times as fast.
struct ReplayClock: Sendable, Equatable {
    /// Seconds of the log in a second; 0 waits for nothing.
    let speed: Int64
    /// The longest wait between two events.
    let longestGap: Duration
    /// The latest event time that was replayed.
    private(set) var time: Timestamp?

    init(speed: Int64, longestGap: Duration) {
        self.speed = speed
        self.longestGap = longestGap
    }

    /// Where the clocks of nodes differ, times in the log run backwards by moments: such an event comes at once.
    mutating func pause(before next: Timestamp) -> Duration {
        guard let last = time else {
            time = next
            return .zero
        }
        guard next > last else { return .zero }
        time = next
        guard speed > 0 else { return .zero }
        return min(longestGap, .microseconds((next.microseconds - last.microseconds) / speed))
    }

    /// What time it is in the replay while it waits: so long before the event that it waits for.
    func time(left: Duration) -> Timestamp? {
        guard let time else { return nil }
        let (seconds, fraction) = left.components
        let micros = seconds * 1_000_000 + fraction / 1_000_000_000_000
        return Timestamp(microseconds: time.microseconds - micros * speed)
    }
}
