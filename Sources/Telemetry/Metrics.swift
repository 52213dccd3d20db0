internal import Synchronization

/// The registry of a process's metrics, rendered in the text format 0.0.4 of Prometheus.
///
/// Callers keep the handles (`Counter`, `Gauge`, `Histogram`) that registering returns: the hot
/// path touches the handle alone, never the registry. Asking again for the same metric returns the
/// same one.
public final class Metrics: Sendable {
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Seconds, from a cache hit to a request that is about to be given up.
    public static let defaultBuckets = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10,
    ]

    private let families = Mutex<[String: any Renderable]>([:])

    public init() {}

    /// Something that only grows; its name ends in `_total`.
    public func counter(_ name: String, help: String) -> Counter {
        counters(name, help: help, labels: []).only
    }

    public func counter(
        _ name: String, help: String, labels: [String], maximumSeries: Int = 100
    ) -> Family<Counter> {
        counters(name, help: help, labels: labels, maximumSeries: maximumSeries)
    }

    /// A counter that is kept elsewhere, as by the kernel: its value is set, and has to grow.
    public func observedCounter(_ name: String, help: String) -> Gauge {
        register(
            Family(
                name: name, help: help, kind: "counter", labels: [], maximumSeries: 1,
                make: Gauge.init)
        ).only
    }

    /// A gauge: a value that goes up and down.
    public func gauge(_ name: String, help: String) -> Gauge {
        gauges(name, help: help, labels: []).only
    }

    public func gauge(
        _ name: String, help: String, labels: [String], maximumSeries: Int = 100
    ) -> Family<Gauge> {
        gauges(name, help: help, labels: labels, maximumSeries: maximumSeries)
    }

    /// A histogram with fixed bucket bounds, which must ascend.
    public func histogram(
        _ name: String, help: String, buckets: [Double] = Metrics.defaultBuckets
    ) -> Histogram {
        histograms(name, help: help, labels: [], buckets: buckets).only
    }

    public func histogram(
        _ name: String, help: String, labels: [String],
        buckets: [Double] = Metrics.defaultBuckets, maximumSeries: Int = 100
    ) -> Family<Histogram> {
        histograms(
            name, help: help, labels: labels, buckets: buckets, maximumSeries: maximumSeries)
    }

    /// Every metric, sorted by name and then by labels, so that two renderings compare.
    public func render() -> String {
        let sorted = families.withLock { $0.sorted { $0.key < $1.key } }
        var text = ""
        for (_, family) in sorted { family.render(into: &text) }
        return text
    }

    private func counters(
        _ name: String, help: String, labels: [String], maximumSeries: Int = 1
    ) -> Family<Counter> {
        register(
            Family(
                name: name, help: help, kind: "counter", labels: labels,
                maximumSeries: maximumSeries, make: Counter.init))
    }

    private func gauges(
        _ name: String, help: String, labels: [String], maximumSeries: Int = 1
    ) -> Family<Gauge> {
        register(
            Family(
                name: name, help: help, kind: "gauge", labels: labels,
                maximumSeries: maximumSeries, make: Gauge.init))
    }

    private func histograms(
        _ name: String, help: String, labels: [String], buckets: [Double], maximumSeries: Int = 1
    ) -> Family<Histogram> {
        precondition(
            zip(buckets, buckets.dropFirst()).allSatisfy { $0 < $1 }
                && buckets.allSatisfy(\.isFinite),
            "the bounds of a histogram are finite and ascend")
        precondition(!labels.contains("le"), "the label le belongs to the histogram itself")
        return register(
            Family(
                name: name, help: help, kind: "histogram", labels: labels,
                maximumSeries: maximumSeries, make: { Histogram(buckets: buckets) }))
    }

    private func register<Handle: Metric>(_ family: Family<Handle>) -> Family<Handle> {
        precondition(isMetricName(family.name), "a metric's name is [a-zA-Z_:][a-zA-Z0-9_:]*")
        precondition(
            family.labels.allSatisfy(isLabelName), "a label's name is [a-zA-Z_][a-zA-Z0-9_]*")
        return families.withLock { families in
            guard let known = families[family.name] else {
                families[family.name] = family
                return family
            }
            guard let same = known as? Family<Handle>, same.labels == family.labels else {
                preconditionFailure("a metric is registered twice with different shapes")
            }
            return same
        }
    }
}

private func isMetricName(_ name: String) -> Bool {
    isLabelName(String(name.map { $0 == ":" ? "_" : $0 }))
}

private func isLabelName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(48...57).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
