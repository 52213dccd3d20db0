import Telemetry

extension Metrics {
    /// How much waits on this node, by queue.
    var queueDepth: Family<Gauge> {
        gauge(
            "urd_queue_depth", help: "What waits on this node for its turn, by queue.",
            labels: ["queue"])
    }
}
