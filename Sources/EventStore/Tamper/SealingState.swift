import EventSourcing
internal import Telemetry

/// How far the sealer is with one realm.
public struct SealingState: Sendable, Equatable {
    /// Positions that a signed checkpoint covers.
    public let sealed: Int64
    /// The last position that the sealer saw.
    public let head: Int64
    public let halt: Halt?

    public var lag: Int64 { max(0, head - sealed) }
}

struct SealerMetrics: Sendable {
    let sealed: Family<Gauge>
    let lag: Family<Gauge>
    let halted: Family<Gauge>
    let signed: Counter
    let fileErrors: Counter

    init(_ metrics: Metrics) {
        sealed = metrics.gauge(
            "urd_sealer_sealed_position", help: "Events that a signed checkpoint covers.",
            labels: ["realm"])
        lag = metrics.gauge(
            "urd_sealer_lag_events", help: "Events that no signed checkpoint covers yet.",
            labels: ["realm"])
        halted = metrics.gauge(
            "urd_sealer_halted", help: "1 where the sealer found the log altered and stopped.",
            labels: ["realm"])
        signed = metrics.counter(
            "urd_sealer_checkpoints_total", help: "Checkpoints that this node signed.")
        fileErrors = metrics.counter(
            "urd_sealer_file_errors_total", help: "Failures to keep a checkpoint in its file.")
    }

    func show(_ state: SealingState, of realm: RealmID) {
        sealed[realm.name].set(state.sealed)
        lag[realm.name].set(state.lag)
        halted[realm.name].set(state.halt == nil ? 0 : 1)
    }
}
