internal import Values

/// The time by which the rules count. The clocks of nodes differ, and so the times of events may run backwards
/// in the log: an event is then taken to have happened at the time of the latest one before it, for it
/// stands behind it. Where a time is far behind the latest one, it is the latest one that was wrong: time begins
/// anew with the later event, and so do all windows.
struct EventClock: Sendable {
    private(set) var now = Timestamp(microseconds: .min)

    /// More than the clocks of nodes can differ while one of them goes on.
    static let tolerance: Int64 = 2 * 3600

    /// - Returns: whether the clock was set back.
    mutating func advance(to time: Timestamp) -> Bool {
        guard time < now else {
            now = time
            return false
        }
        guard time.adding(seconds: Self.tolerance) < now else { return false }
        now = time
        return true
    }
}
