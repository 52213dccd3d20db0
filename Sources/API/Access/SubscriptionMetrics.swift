public import Telemetry

/// What is counted of subscriptions under the same names: webhooks and streams of security signals differ by
/// their kind. Of feeds whose cursor is kept there is only how far the reader is.
public struct SubscriptionMetrics: Sendable {
    public enum Kind: String, Sendable {
        case feed
        case webhook
        case ssf
    }

    private let kind: String
    private let attempts: Family<Counter>
    public let dead: Counter
    public let halted: Counter
    /// Number of disabled subscriptions, in total and now.
    public let ended: Counter
    public let disabled: Gauge
    /// The lag of the slowest subscription, in events.
    public let lagEvents: Gauge
    public let lagSeconds: Gauge
    public let delays: Histogram

    public init(_ metrics: Metrics, of kind: Kind) {
        let name = kind.rawValue
        self.kind = name
        attempts = metrics.counter(
            "urd_subscription_attempts_total",
            help: "Attempts to deliver an event to a subscription, by what came of them.",
            labels: ["kind", "outcome"])
        func counter(_ what: String, _ help: String) -> Counter {
            metrics.counter("urd_subscription_\(what)_total", help: help, labels: ["kind"])[name]
        }
        dead = counter("dead", "Deliveries that were given up.")
        halted = counter(
            "halted", "Times that a subscription stopped at an event that cannot be sent.")
        ended = counter("ended", "Times that a subscription was disabled.")
        disabled = Self.gauge(metrics, "disabled", "Subscriptions that are disabled.", of: kind)
        lagEvents = Self.lagEvents(metrics, of: kind)
        lagSeconds = Self.gauge(
            metrics, "lag_seconds",
            "How old the oldest event is that a subscription has not delivered.", of: kind)
        delays =
            metrics.histogram(
                "urd_subscription_delay_seconds",
                help: "How long after its event a delivery was taken at the first attempt.",
                labels: ["kind"], buckets: [0.005, 0.015, 0.1, 1, 5, 30, 300]
            )[name]
    }

    public static func lagEvents(_ metrics: Metrics, of kind: Kind) -> Gauge {
        gauge(
            metrics, "lag_events",
            "How many events the subscription that is furthest behind has not delivered.", of: kind)
    }

    private static func gauge(
        _ metrics: Metrics, _ what: String, _ help: String, of kind: Kind
    ) -> Gauge {
        metrics.gauge("urd_subscription_\(what)", help: help, labels: ["kind"])[kind.rawValue]
    }

    public func count(_ outcome: String, _ number: Int = 1) {
        if number > 0 { attempts.handle([kind, outcome]).add(number) }
    }
}
