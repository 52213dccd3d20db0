/// An instant, in microseconds since 1970-01-01T00:00:00Z without leap seconds: the precision that
/// PostgreSQL keeps.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let microseconds: Int64

    @inlinable
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Whole seconds, as JWT claims carry them; saturates.
    public init(seconds: Int64) {
        self = Timestamp(microseconds: 0).adding(seconds: seconds)
    }

    /// Whole seconds since the epoch (1970), rounded towards the past.
    public var seconds: Int64 { floorDivide(microseconds, 1_000_000).quotient }

    /// Whole milliseconds since 1970, rounded towards the past.
    public var milliseconds: Int64 { floorDivide(microseconds, 1_000).quotient }

    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// Saturates, so that a lifetime from a request can't end the process.
    public func adding(seconds: Int64) -> Timestamp {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return adding(microseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }

    /// Saturates.
    public func adding(microseconds added: Int64) -> Timestamp {
        let (sum, overflow) = microseconds.addingReportingOverflow(added)
        return Timestamp(microseconds: overflow ? (added < 0 ? .min : .max) : sum)
    }

    /// How many microseconds passed from `earlier` to this instant; saturates.
    public func microseconds(since earlier: Timestamp) -> Int64 {
        let (difference, overflow) =
            microseconds.subtractingReportingOverflow(earlier.microseconds)
        return overflow ? (microseconds < 0 ? .min : .max) : difference
    }
}
