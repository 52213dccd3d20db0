import API
import Cryptography
import EventSourcing
import EventStore
import JSON
import ReadModels
import Telemetry
import Values

/// Carries out the deletions of accounts that are due. Several nodes may do it at once: what one of
/// them did the others find done, and what one of them left half done the next takes up.
struct DeletionService: Sendable {
    private let deletions: Deletions
    private let erasure: AccountErasure
    private let lines: Log
    private let erased: Counter
    private let failed: Counter
    private let waiting: Gauge
    private let clock: DatabaseClock

    /// How long after it is due a deletion may begin.
    private static let pause: Duration = .seconds(5)
    private static let batch = 1_000

    init(_ store: Store, _ queries: ReadModelQueries) {
        clock = store.clock
        deletions = Deletions(store.database)
        erasure = AccountErasure(
            commands: store.dispatcher, queries: queries,
            destroyKey: { realm, subject throws(LogFailure) in
                try await store.keyring.destroyKey(of: subject, in: realm)
            },
            newID: { [clock] in
                var random = SystemRandom()
                return .v7(at: clock.now(), using: &random)
            })
        lines = store.lines
        erased = store.metrics.counter(
            "urd_accounts_erased_total", help: "Accounts whose deletion was carried out.")
        failed = store.metrics.counter(
            "urd_account_erasures_failed_total",
            help: "Deletions of accounts that broke off and are taken up again.")
        waiting = store.metrics.gauge(
            "urd_account_deletions_due",
            help: "Accounts whose deletion was due when this was last looked at, at most 1000.")
    }

    /// Until the task is cancelled.
    func run() async throws {
        while true {
            // The list follows the log: what was just done may still stand in it for a moment.
            try await Task.sleep(for: await pass() ? .seconds(1) : Self.pause)
        }
    }

    /// One round. True where more deletions may be due.
    private func pass() async -> Bool {
        guard
            let due = try? await deletions.due(at: clock.now(), limit: Self.batch)
        else { return false }
        waiting.set(Double(due.count))
        for entry in due {
            if Task.isCancelled { return false }
            await dispatch(entry)
        }
        return due.count == Self.batch
    }

    /// An account that cannot be deleted now is due the next time as well.
    private func dispatch(_ entry: Deletions.Entry) async {
        let fields: JSONObject = [
            "realm": .string(entry.realm.name), "account": .string(entry.account.description),
        ]
        do {
            let outcome = try await erasure.dispatch(
                entry.account, in: entry.realm,
                by: Origin(actor: "system", at: clock.now()))
            if case .erased(let position, isNew: true) = outcome {
                erased.add(1)
                lines.notice(
                    "account.erased", fields.merging(["position": .integer(position)]) { $1 })
            }
        } catch {
            failed.add(1)
            lines.warning(
                "account.erasure_failed", fields.merging(["why": .string("\(error)")]) { $1 })
        }
    }
}
