import ReadModels
import Telemetry

/// What is counted of streams of security signals, under the names that all kinds of subscriptions have.
struct SignalMetrics: Sendable {
    private static let kind = "ssf"

    private let attempts: Family<Counter>
    private let dead: Counter
    private let ended: Counter
    private let disabled: Gauge
    private let lagEvents: Gauge
    private let lagSeconds: Gauge

    init(_ metrics: Metrics) {
        attempts = metrics.counter(
            "urd_subscription_attempts_total",
            help: "Attempts to deliver an event to a subscription, by what came of them.",
            labels: ["kind", "outcome"])
        dead =
            metrics.counter(
                "urd_subscription_dead_total", help: "Deliveries that were given up.",
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
    }

    func count(taken: Int, refused: Int, failed: Int) {
        for (outcome, number) in [("delivered", taken), ("refused", refused), ("failed", failed)]
        where number > 0 {
            attempts.handle([Self.kind, outcome]).add(number)
        }
        dead.add(refused)
    }

    func countPause() { ended.add() }

    func show(_ lag: SignalLag) {
        lagEvents.set(lag.events)
        lagSeconds.set(lag.seconds)
        disabled.set(lag.paused)
    }
}
