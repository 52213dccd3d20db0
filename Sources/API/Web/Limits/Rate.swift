/// How often something may happen: so many times in a span, evenly, and so many at once.
public struct Rate: Sendable, Equatable {
    public let amount: Int
    public let span: Duration
    public let burst: Int

    /// How long one of them takes to come back, in nanoseconds.
    let interval: Int64
    /// The longest debt: as many intervals as there may be at once.
    let longest: Int64

    /// Nil for what is no rate: nothing, never, or more than can be counted.
    public init?(_ amount: Int, per span: Duration, burst: Int? = nil) {
        let burst = burst ?? amount
        guard (1...1_000_000).contains(amount), (1...1_000_000).contains(burst),
            span >= .milliseconds(1), span <= .seconds(31 * 86_400)
        else { return nil }
        let (seconds, attoseconds) = span.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        // Rounded up: a rate is never passed.
        let interval = (nanoseconds + Int64(amount) - 1) / Int64(amount)
        let (longest, overflow) = interval.multipliedReportingOverflow(by: Int64(burst))
        guard !overflow else { return nil }
        self.amount = amount
        self.span = span
        self.burst = burst
        self.interval = interval
        self.longest = longest
    }
}

/// A token bucket, kept as the moment at which it will be full again: nothing has to fill it.
struct Bucket: Sendable {
    /// In nanoseconds of the monotonic clock.
    private var full: Int64 = .min

    /// Takes one token; else says how many nanoseconds it takes until there is one.
    mutating func take(_ rate: Rate, at now: Int64) -> Int64? {
        // If the rate was another one before, a debt of that time is held to this one's limits.
        let owed = full > now ? min(full - now, rate.longest) : 0
        guard owed <= rate.longest - rate.interval else {
            full = now + owed
            return owed - (rate.longest - rate.interval)
        }
        full = now + owed + rate.interval
        return nil
    }

    mutating func giveBack(_ rate: Rate) { full = max(full, .min + rate.interval) - rate.interval }
}
