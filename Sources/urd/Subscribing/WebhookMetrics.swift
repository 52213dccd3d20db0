import Telemetry

/// What is counted of each kind of subscription under the same names.
struct WebhookMetrics: Sendable {
    private static let kind = "webhook"

    private let attempts: Family<Counter>
    let dead: Counter
    let halted: Counter
    /// Times that one was disabled, and how many are so now.
    let ended: Counter
    let disabled: Gauge
    /// Of the one that is furthest behind.
    let lagEvents: Gauge
    let lagSeconds: Gauge
    let delays: Histogram

    init(_ metrics: Metrics) {
        attempts = metrics.counter(
            "urd_subscription_attempts_total",
            help: "Attempts to deliver an event to a subscription, by what came of them.",
            labels: ["kind", "outcome"])
        dead =
            metrics.counter(
                "urd_subscription_dead_total", help: "Deliveries that were given up.",
                labels: ["kind"])[Self.kind]
        halted =
            metrics.counter(
                "urd_subscription_halted_total",
                help: "Times that a subscription stopped at an event that cannot be sent.",
                labels: ["kind"])[Self.kind]
        ended =
            metrics.counter(
                "urd_subscription_ended_total", help: "Times that a subscription was disabled.",
                labels: ["kind"])[Self.kind]
        disabled =
            metrics.gauge(
                "urd_subscription_disabled", help: "Subscriptions that are disabled.",
                labels: ["kind"])[Self.kind]
        lagEvents =
            metrics.gauge(
                "urd_subscription_lag_events",
                help: "How many events the subscription that is furthest behind has not delivered.",
                labels: ["kind"])[Self.kind]
        lagSeconds =
            metrics.gauge(
                "urd_subscription_lag_seconds",
                help: "How old the oldest event is that a subscription has not delivered.",
                labels: ["kind"])[Self.kind]
        delays =
            metrics.histogram(
                "urd_subscription_delay_seconds",
                help: "How long after its event a delivery was taken at the first attempt.",
                labels: ["kind"], buckets: [0.001, 0.005, 0.015, 0.05, 0.1, 0.5, 1, 5, 30, 300]
            )[Self.kind]
    }

    func count(_ outcome: String) { attempts.handle([Self.kind, outcome]).add() }
}
