internal import Synchronization

/// How values spread over fixed buckets, with their sum and their number.
public final class Histogram: Metric {
    private struct State {
        /// Counters of the buckets: one more than bounds, for values above the last bound.
        var counts: [UInt64]
        var sum = 0.0
    }

    public let buckets: [Double]
    private let state: Mutex<State>

    init(buckets: [Double]) {
        self.buckets = buckets
        state = Mutex(State(counts: Array(repeating: 0, count: buckets.count + 1)))
    }

    /// What is not a finite number is left out: one of them would spoil the sum for ever.
    public func observe(_ value: Double) {
        guard value.isFinite else { return }
        let index = buckets.firstIndex { value <= $0 } ?? buckets.count
        state.withLock { state in
            state.counts[index] &+= 1
            state.sum += value
        }
    }

    /// Observes a duration, in seconds.
    public func observe(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) * 1e-18)
    }

    public func render(name: String, labels: String, into text: inout String) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        let before = labels.isEmpty ? "" : labels + ","
        var total: UInt64 = 0
        for (bound, count) in zip(buckets + [.infinity], counts) {
            total &+= count
            appendSample(
                "\(name)_bucket", "\(before)le=\"\(number(bound))\"", String(total), to: &text)
        }
        appendSample("\(name)_sum", labels, number(sum), to: &text)
        appendSample("\(name)_count", labels, String(total), to: &text)
    }
}
