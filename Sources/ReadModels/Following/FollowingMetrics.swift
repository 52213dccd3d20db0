import Synchronization
import Telemetry

/// How far projections are behind and which of them stand still, over all realms.
final class FollowingMetrics: Sendable {
    private struct State {
        /// Realms that are behind, by projection.
        var lags: [String: [String: Int64]] = [:]
        var halted: [String: Set<String>] = [:]
        var haltedInline: [String: Set<String>] = [:]
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

    func note(_ projection: String, _ realm: String, lag: Int64, isHalted: Bool) {
        let (most, standing) = state.withLock { state in
            state.lags[projection, default: [:]][realm] = lag > 0 ? lag : nil
            if isHalted {
                state.halted[projection, default: []].insert(realm)
            } else {
                state.halted[projection]?.remove(realm)
            }
            return (
                state.lags[projection]?.values.max() ?? 0, state.halted[projection]?.count ?? 0
            )
        }
        self.lag[projection].set(most)
        self.halted[projection].set(standing)
    }

    /// All the inline projections that stand still.
    func note(haltedInline: [(projection: String, realm: String)]) {
        let counts = state.withLock { state in
            let before = state.haltedInline.keys
            var now = Dictionary(uniqueKeysWithValues: before.map { ($0, Set<String>()) })
            for (projection, realm) in haltedInline { now[projection, default: []].insert(realm) }
            state.haltedInline = now
            return now.mapValues(\.count)
        }
        for (projection, count) in counts { halted[projection].set(count) }
    }
}
