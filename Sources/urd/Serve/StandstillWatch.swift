import EventStore
import JSON
import Postgres
import Telemetry

extension Standstill.Lease {
    /// For operators.
    var words: String { "no node has held \(name) for \(Int(seconds)) s" }
}

extension Standstill.Seal {
    var words: String {
        "the log of \(realm) goes on, and its seal has not moved for \(Int(seconds)) s"
            + (realms > 1 ? " (and those of \(realms - 1) more realms)" : "")
    }
}

extension Store {
    private static let lookAgain = Duration.seconds(5)

    /// Shows what stands still until it is cancelled, and says so when something begins to, and when all goes on again.
    func watchStandstill() async throws {
        let leaseGauge = metrics.gauge(
            "urd_lease_unheld_seconds",
            help: "Seconds since a node renewed the lease last, by the database. A few are usual.",
            labels: ["lease"])
        let sealGauge = metrics.gauge(
            "urd_seal_lag_seconds",
            help:
                "How long the oldest event waits for a checkpoint that covers it, by the database.")
        var last = Standstill(leases: [], seal: nil)
        var answered = ContinuousClock.now
        var told: [String] = []
        while true {
            try Task.checkCancellation()
            let found = try? await database.run { connection throws(Postgres.Failure) in
                try Standstill.read(connection)
            }
            if let found { (last, answered) = (found, .now) }
            // What cannot be asked is not taken for well.
            let unanswered = (ContinuousClock.now - answered) / .seconds(1)
            for lease in last.leases { leaseGauge[lease.name].set(lease.seconds + unanswered) }
            sealGauge.set((last.seal?.seconds ?? 0) + (found == nil ? unanswered : 0))
            tell(last, &told)
            try await Task.sleep(for: Self.lookAgain)
        }
    }

    private func tell(_ standstill: Standstill, _ told: inout [String]) {
        let (leases, seal) = (standstill.unheld, standstill.unsealed)
        let stuck = leases.map(\.name) + (seal.map { ["seal of " + $0.realm] } ?? [])
        for lease in leases where !told.contains(lease.name) {
            lines.error(
                "lease.unheld", ["lease": .string(lease.name), "why": .string(lease.words)])
        }
        if let seal, !told.contains("seal of " + seal.realm) {
            lines.error("seal.stands", ["realm": .string(seal.realm), "why": .string(seal.words)])
        }
        if stuck.isEmpty, !told.isEmpty { lines.notice("standstill.over") }
        told = stuck
    }
}
