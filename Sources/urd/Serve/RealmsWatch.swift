import EventStore
import JSON
import Postgres
import ReadModels
import Synchronization
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

/// Reads of all realms what stands still in them, again and again. What that costs grows with their number: so health
/// checks, of which there are many, are told what was read last.
final class RealmsWatch: Sendable {
    struct Reading: Sendable {
        let projections: [ProjectionTrouble]
        let standstill: Standstill
        let at: ContinuousClock.Instant

        fileprivate var isWell: Bool {
            standstill.unheld.isEmpty && standstill.unsealed == nil
                && projections.allSatisfy { $0.trouble == nil }
        }
    }

    /// What is older says nothing any more.
    static let mostAge = Duration.seconds(60)

    private let store: Store
    private let readyLag: Int64
    private let last = Mutex<Reading?>(nil)

    init(_ store: Store, readyLag: Int) {
        self.store = store
        self.readyLag = Int64(readyLag)
    }

    /// What was read last; before anything was, it is read now.
    func reading() async throws -> Reading {
        if let known = last.withLock({ $0 }) { return known }
        return try await read()
    }

    private func read() async throws -> Reading {
        let reading = try await store.database.run {
            [readyLag] connection throws(Postgres.Failure) in
            Reading(
                projections: try ProjectionTrouble.read(lag: readyLag, connection),
                standstill: try Standstill.read(connection), at: .now)
        }
        last.withLock { $0 = reading }
        return reading
    }

    /// Shows what stands still until it is cancelled, and says so when something begins to, and when all goes on again.
    func run() async throws {
        let leaseGauge = store.metrics.gauge(
            "urd_lease_unheld_seconds",
            help: "Seconds since a node renewed the lease last, by the database. A few are usual.",
            labels: ["lease"])
        let sealGauge = store.metrics.gauge(
            "urd_seal_lag_seconds",
            help:
                "How long the oldest event waits for a checkpoint that covers it, by the database.")
        var last = Standstill(leases: [], seal: nil)
        var answered = ContinuousClock.now
        var told: [String] = []
        while true {
            try Task.checkCancellation()
            let begun = ContinuousClock.now
            let found = try? await read()
            if let found { (last, answered) = (found.standstill, .now) }
            // What cannot be asked is not taken for well.
            let unanswered = (ContinuousClock.now - answered) / .seconds(1)
            for lease in last.leases { leaseGauge[lease.name].set(lease.seconds + unanswered) }
            sealGauge.set((last.seal?.seconds ?? 0) + (found == nil ? unanswered : 0))
            tell(last, &told)
            try await Task.sleep(
                for: Self.pause(
                    after: ContinuousClock.now - begun, isWell: found?.isWell == true))
        }
    }

    /// It takes a twentieth of a connection's time at most, and says soon that all is well again.
    static func pause(after cost: Duration, isWell: Bool) -> Duration {
        min(max(isWell ? .seconds(2) : .milliseconds(250), cost * 20), mostAge / 2)
    }

    private func tell(_ standstill: Standstill, _ told: inout [String]) {
        let (leases, seal) = (standstill.unheld, standstill.unsealed)
        let stuck = leases.map(\.name) + (seal.map { ["seal of " + $0.realm] } ?? [])
        for lease in leases where !told.contains(lease.name) {
            store.lines.error(
                "lease.unheld", ["lease": .string(lease.name), "why": .string(lease.words)])
        }
        if let seal, !told.contains("seal of " + seal.realm) {
            store.lines.error(
                "seal.stands", ["realm": .string(seal.realm), "why": .string(seal.words)])
        }
        if stuck.isEmpty, !told.isEmpty { store.lines.notice("standstill.over") }
        told = stuck
    }
}
