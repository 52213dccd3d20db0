import Synchronization
import Telemetry

/// How far projections are behind and which of them stand still, over all realms.
final class FollowingMetrics: Sendable {
    private struct State {
        /// Realms that are behind, by projection.
        var lags: [String: [String: Int64]] = [:]
        /// In how many realms a projection stands still.
        var halted: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let lag: Family<Gauge>
    private let halted: Family<Gauge>

    init(_ metrics: Metrics) {
        lag = metrics.gauge(
            "urd_projection_lag_events",
            help: "Events that the projection has not applied yet, in the realm where it is most",
            labels: ["projection"])
        halted = metrics.gauge(
            "urd_projection_halted_realms",
            help: "Realms in which the projection stands still at an event that it cannot apply",
            labels: ["projection"])
    }

    func note(_ projection: String, _ realm: String, lag: Int64) {
        let (most, isNew) = state.withLock { state in
            state.lags[projection, default: [:]][realm] = lag > 0 ? lag : nil
            let isNew = state.halted[projection] == nil
            if isNew { state.halted[projection] = 0 }
            return (state.lags[projection]?.values.max() ?? 0, isNew)
        }
        self.lag[projection].set(most)
        if isNew { halted[projection].set(0) }
    }

    /// Sets the gauges of all halted projections.
    func note(halted found: [(projection: String, realm: String)]) {
        let counts = state.withLock { state in
            var now = state.halted.mapValues { _ in 0 }
            for one in found { now[one.projection, default: 0] += 1 }
            state.halted = now
            return now
        }
        for (projection, count) in counts { halted[projection].set(Int64(count)) }
    }
}
