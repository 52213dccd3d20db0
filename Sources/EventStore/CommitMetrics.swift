public import Telemetry

/// What the committer counts.
public struct CommitMetrics: Sendable {
    let commands: Family<Counter>
    /// Of `commands`, and by far the most of them.
    let won: Counter
    let batches: Counter
    let batchSize: Histogram
    let duration: Histogram
    let events: Counter
    let judged: Counter
    let failures: Counter

    public init(_ metrics: Metrics) {
        commands = metrics.counter(
            "urd_commands_total", help: "Commands by outcome.", labels: ["outcome"])
        won = commands["won"]
        batches = metrics.counter("urd_commits_total", help: "Batches committed.")
        batchSize = metrics.histogram(
            "urd_commit_batch_size", help: "Commands per batch.",
            buckets: [1, 4, 16, 64, 256])
        duration = metrics.histogram(
            "urd_commit_seconds", help: "From sending a batch to its commit.",
            buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1, 5])
        events = metrics.counter("urd_events_total", help: "Events appended.")
        judged = metrics.counter(
            "urd_commits_judged_total",
            help: "Batches that flew again to be judged, because not all of it won.")
        failures = metrics.counter("urd_commit_failures_total", help: "Batches that failed.")
    }
}
