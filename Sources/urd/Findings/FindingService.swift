import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Values

/// Runs the rules for findings over the log of each realm, and puts on record what they find. One node does
/// so at a time; another one that takes its place reads the log from its beginning, finds the same, and
/// raises what is not on record yet: the name of a finding follows from what was found (decision 0140).
final class FindingService: Sendable {
    let store: Store
    let queries: ReadModelQueries
    private let leadership: Leadership
    let raised: Counter
    let closed: Counter
    private let lag: Gauge

    init(_ store: Store, _ queries: ReadModelQueries) {
        self.store = store
        self.queries = queries
        leadership = Leadership(of: "findings", in: store.leases)
        raised = store.metrics.counter(
            "urd_findings_raised_total", help: "Findings that this node raised.")
        closed = store.metrics.counter(
            "urd_findings_closed_total",
            help: "Findings that this node closed because nothing more happened.")
        lag = store.metrics.gauge(
            "urd_findings_lag_events",
            help:
                "How many events the rules for findings are behind, in the realm that is furthest.")
    }

    /// Whether this node still does it, to be looked at before anything is put on record.
    var isOurs: Bool { leadership.isCertain }

    /// Runs until it is cancelled: a task for each realm.
    func run() async throws {
        var running: [RealmID: (run: FindingRun, task: Task<Void, Never>)] = [:]
        defer { for one in running.values { one.task.cancel() } }
        while true {
            try Task.checkCancellation()
            if await leadership.isHeld() {
                // The system's log is no realm's.
                for realm in store.log.hub.realms where realm != .system && running[realm] == nil {
                    let run = FindingRun(self, realm)
                    running[realm] = (run, Task { await run.run() })
                }
            } else {
                for one in running.values { one.task.cancel() }
                running = [:]
            }
            let behind = running.map { store.log.hub.head(of: $0.key) - $0.value.run.position }
            lag.set(Double(behind.max() ?? 0))
            try await store.log.hub.rest(.milliseconds(200), longest: .seconds(1))
        }
    }
}
