import EventSourcing
import EventStore
import Identity
import JSON
import ReadModels
import Telemetry
import Values

/// Removes app installations that were not approved within an hour. Idempotent: several nodes may
/// do it at once, and what one of them removed the others find gone.
struct InstallationService: Sendable {
    private let store: Store
    private let pending: PendingInstallations
    private let removed: Counter

    private static let pause: Duration = .seconds(10)
    private static let batch = 500

    init(_ store: Store) {
        self.store = store
        pending = PendingInstallations(store.database)
        removed = store.metrics.counter(
            "urd_installations_forgotten_total",
            help: "Apps on devices that were removed because no owner let them in.")
    }

    /// Until the task is cancelled. An outage of the database is waited out.
    func run() async throws {
        while true {
            let count = await pass()
            try await Task.sleep(for: count == Self.batch ? .seconds(1) : Self.pause)
        }
    }

    /// One round: how many there were.
    private func pass() async -> Int {
        let now = store.clock.now()
        do {
            let found = try await pending.page(
                before: now.adding(seconds: -Installation.patience), limit: Self.batch)
            for entry in found {
                if Task.isCancelled { return 0 }
                try await forget(entry, now)
            }
            return found.count
        } catch {
            store.lines.warning("installation.not_forgotten", ["why": .string("\(error)")])
            return 0
        }
    }

    private func forget(_ entry: PendingInstallations.Entry, _ now: Timestamp) async throws {
        do {
            try await store.dispatch(
                InstallationChange.forget(entry.client, now: now), in: entry.realm, by: "system")
            removed.add(1)
        } catch is InstallationChange.ForgetRejection {
            return
        }
    }
}
