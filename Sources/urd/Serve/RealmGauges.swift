import EventStore
import ReadModels
import Telemetry
import Values

/// What the database says of all realms, as metrics.
struct RealmGauges: Sendable {
    private let leases: Family<Gauge>
    private let seal: Gauge
    private let checkpoint: Gauge
    private let backup: Gauge
    private let followers: Family<Gauge>
    private let mailWait: Gauge
    private let mails: Family<Gauge>
    private var slow: Set<String> = []

    init(_ metrics: Metrics) {
        leases = metrics.gauge(
            "urd_lease_unheld_seconds",
            help: "Seconds since a node renewed the lease last, by the database. A few are usual.",
            labels: ["lease"])
        seal = metrics.gauge(
            "urd_seal_lag_seconds",
            help:
                "How long the oldest event waits for a checkpoint that covers it, by the database.")
        checkpoint = metrics.gauge(
            "urd_last_checkpoint_timestamp_seconds",
            help: "When the newest checkpoint was signed, since 1970; 0 before the first.")
        backup = metrics.gauge(
            "urd_last_backup_timestamp_seconds",
            help: "The moment that the newest backup holds, since 1970; 0 where none is on record.")
        followers = metrics.gauge(
            "urd_projection_standstill_seconds",
            help:
                "How long the next event waits for a read model that follows, by the database; 0 below thirty.",
            labels: ["projection"])
        mailWait = metrics.gauge(
            "urd_mail_wait_seconds",
            help:
                "How long the oldest mail or message waits, by the database; 0 below five minutes.")
        mails = metrics.gauge(
            "urd_mails_waiting",
            help: "Mails and messages that are not taken yet, by the database; 10000 at most.",
            labels: ["kind"])
    }

    /// What cannot be asked is not taken for well: the time without an answer counts as waiting.
    mutating func show(
        _ last: Standstill, _ found: RealmsWatch.Reading?, unanswered: Double
    ) {
        for lease in last.leases { leases[lease.name].set(lease.seconds + unanswered) }
        seal.set((last.seal?.seconds ?? 0) + (found == nil ? unanswered : 0))
        guard let found else { return }
        for one in found.followers { followers[one.projection].set(one.seconds) }
        for name in slow.subtracting(found.followers.map(\.projection)) { followers[name].set(0) }
        slow = Set(found.followers.map(\.projection))
        mailWait.set(found.mails.map(\.seconds).max() ?? 0)
        mails["mails"].set(found.queued.mails)
        mails["messages"].set(found.queued.messages)
        checkpoint.set(found.checkpoint?.seconds ?? 0)
        backup.set(found.backup?.at.seconds ?? 0)
    }
}
