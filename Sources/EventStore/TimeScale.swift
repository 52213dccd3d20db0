/// Which time of the database's clock belongs to which moment of this process's own, which only goes on.
/// All in microseconds.
///
/// It never shows an earlier time than before. Where the database's clock was set back, or another server
/// took its place, time goes on at half its pace until that clock has caught up.
struct TimeScale: Sendable {
    /// What the database's clock showed half-way between question and answer.
    struct Reading: Sendable {
        var there: Int64
        var here: Int64
        /// The bound of the clock's error: half of the round-trip time.
        var error: Int64
    }

    private var reading: Reading?
    private var bound: (there: Int64, here: Int64)?

    /// Two clocks part by less than this many parts in a million.
    private static let drift: Int64 = 200

    /// Nil before the first reading.
    func time(at here: Int64) -> Int64? {
        guard let reading else { return nil }
        let shown = reading.there + (here - reading.here)
        guard let bound else { return shown }
        return max(shown, bound.there + (here - bound.here) / 2)
    }

    /// The bound of the clock's error by now.
    func error(at here: Int64) -> Int64? {
        reading.map { $0.error + abs(here - $0.here) / 1_000_000 * Self.drift }
    }

    mutating func take(_ new: Reading) {
        if let reading, let error = error(at: new.here) {
            let expected = reading.there + (new.here - reading.here)
            let isSameClock = abs(new.there - expected) <= error + new.error
            // An answer that took long knows less than what is known already.
            if isSameClock, new.error > error { return }
            if let shown = time(at: new.here), shown > new.there {
                bound = (shown, new.here)
            } else {
                bound = nil
            }
        }
        reading = new
    }
}
