import API
import EventStore
import Postgres
import Telemetry

/// What is looked up at each scrape: the process, the queues of this node, and whether it can serve.
struct NodeMetrics: Sendable {
    private let health: Health
    private let ready: Gauge
    private let attention: Gauge
    private let queues: [(gauge: Gauge, read: @Sendable () -> Int)]
    private let figures: [(gauge: Gauge, read: @Sendable (ProcessFigures) -> Double)]

    init(_ store: Store, _ health: Health) {
        self.health = health
        let metrics = store.metrics
        ready = metrics.gauge(
            "urd_ready", help: "Whether this node can serve requests, as /health/ready says.")
        attention = metrics.gauge(
            "urd_attention", help: "Whether an operator must look, as /health/ready says.")
        metrics.gauge(
            "urd_build_info", help: "The build that runs; always 1.", labels: ["version", "commit"]
        )[Version.number, Version.commit].set(1)
        let depth = metrics.queueDepth
        queues = [
            (depth["commands"], { @Sendable [log = store.log] in log.waiting }),
            (depth["queries"], { @Sendable [database = store.database] in database.queueLength }),
        ]
        // Names that every dashboard of Prometheus knows.
        figures = [
            (
                metrics.observedCounter(
                    "process_cpu_seconds_total", help: "User and system time of the process."),
                \.cpuSeconds
            ),
            (
                metrics.gauge("process_resident_memory_bytes", help: "Memory in use."),
                \.residentBytes
            ),
            (metrics.gauge("process_virtual_memory_bytes", help: "Address space."), \.virtualBytes),
            (metrics.gauge("process_open_fds", help: "Open file descriptors."), \.openFiles),
            (
                metrics.gauge("process_max_fds", help: "File descriptors that may be open."),
                \.mostFiles
            ),
            (metrics.gauge("process_threads", help: "Threads of the process."), \.threads),
            (
                metrics.gauge(
                    "process_start_time_seconds", help: "When the process began, since 1970."),
                \.startTime
            ),
        ]
    }

    /// Before a rendering.
    func refresh() async {
        let components = await health.components()
        ready.set(components.allSatisfy(\.isReady) ? 1 : 0)
        attention.set(components.contains(where: \.needsAttention) ? 1 : 0)
        for queue in queues { queue.gauge.set(queue.read()) }
        guard let now = ProcessFigures.read() else { return }
        for figure in figures { figure.gauge.set(figure.read(now)) }
    }
}
