import Telemetry

struct WebhookMetrics: Sendable {
    private let attempts: Family<Counter>
    let dead: Counter
    let halted: Counter
    let disabled: Counter
    let delays: Histogram

    init(_ metrics: Metrics) {
        attempts = metrics.counter(
            "urd_subscription_attempts_total",
            help: "Attempts to deliver an event to a subscription, by what came of them.",
            labels: ["outcome"])
        dead = metrics.counter(
            "urd_subscription_dead_total", help: "Deliveries that were given up.")
        halted = metrics.counter(
            "urd_subscription_halted_total",
            help: "Times that a subscription stopped because the log could not be read on.")
        disabled = metrics.counter(
            "urd_subscription_disabled_total", help: "Subscriptions that were disabled.")
        delays = metrics.histogram(
            "urd_subscription_delay_seconds",
            help: "How long after its event a delivery was taken at the first attempt.",
            buckets: [0.001, 0.005, 0.015, 0.05, 0.1, 0.5, 1, 5, 30, 300])
    }

    func count(_ outcome: String) { attempts.handle([outcome]).add() }
}
