import EventStore
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Values

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

extension ProjectionStandstill {
    var words: String {
        "nothing applied in \(realm) for \(Int(seconds)) s, \(events) events wait"
            + (realms > 1 ? " (and in \(realms - 1) more realms)" : "")
    }
}

extension WaitingMails {
    var words: String {
        "\(count) \(areMessages ? "messages" : "mails") wait, the oldest since \(since) in \(realm), "
            + (reason.map { "last reason: \($0)" } ?? "and no attempt is on record")
    }
}

/// Reads of all realms what stands still in them, again and again. What that costs grows with their number: so health
/// checks, of which there are many, are told what was read last.
final class RealmsWatch: Sendable {
    struct Reading: Sendable {
        let projections: [ProjectionTrouble]
        let followers: [ProjectionStandstill]
        let standstill: Standstill
        let mails: [WaitingMails]
        let queued: QueuedMails
        let checkpoint: Timestamp?
        let backup: LastBackup?
        let at: ContinuousClock.Instant

        fileprivate var isWell: Bool {
            standstill.unheld.isEmpty && standstill.unsealed == nil
                && projections.allSatisfy { $0.trouble == nil } && followers.isEmpty
                && mails.isEmpty
        }
    }

    /// An older reading is stale.
    static let mostAge = Duration.seconds(60)

    private let store: Store
    private let readyLag: Int64
    private let last = Mutex<Reading?>(nil)

    init(_ store: Store, readyLag: Int) {
        self.store = store
        self.readyLag = Int64(readyLag)
    }

    /// The last reading; the first call reads the database.
    func reading() async throws -> Reading {
        if let known = last.withLock({ $0 }) { return known }
        return try await read()
    }

    private func read() async throws -> Reading {
        let reading = try await store.database.run {
            [readyLag] connection throws(Postgres.Failure) in
            Reading(
                projections: try ProjectionTrouble.read(lag: readyLag, connection),
                followers: try ProjectionStandstill.read(connection),
                standstill: try Standstill.read(connection),
                mails: try WaitingMails.read(connection),
                queued: try QueuedMails.read(connection),
                checkpoint: try LastCheckpoint.time(connection),
                backup: try LastBackup.read(connection), at: .now)
        }
        last.withLock { $0 = reading }
        return reading
    }

    /// Reports projections that stand still until the task is cancelled, with a log line when the first one halts and when all run again.
    func run() async throws {
        var gauges = RealmGauges(store.metrics)
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
            gauges.show(last, found, unanswered: unanswered)
            tell(last, found, &told)
            try await Task.sleep(
                for: Self.pause(
                    after: ContinuousClock.now - begun, isWell: found?.isWell == true))
        }
    }

    /// It takes a twentieth of a connection's time at most, and says soon that all is well again.
    static func pause(after cost: Duration, isWell: Bool) -> Duration {
        min(max(isWell ? .seconds(5) : .milliseconds(250), cost * 20), mostAge / 2)
    }

    private struct ReportedIssue {
        let name: String
        let event: StaticString
        let fields: JSONObject
    }

    private func matters(_ standstill: Standstill, _ found: Reading?) -> [ReportedIssue] {
        standstill.unheld.map {
            ReportedIssue(
                name: $0.name, event: "lease.unheld",
                fields: ["lease": .string($0.name), "why": .string($0.words)])
        }
            + [standstill.unsealed].compactMap(\.self).map {
                ReportedIssue(
                    name: "seal of " + $0.realm, event: "seal.stands",
                    fields: ["realm": .string($0.realm), "why": .string($0.words)])
            }
            + (found?.followers ?? []).map {
                ReportedIssue(
                    name: "read model " + $0.projection, event: "projection.stands",
                    fields: [
                        "projection": .string($0.projection), "realm": .string($0.realm),
                        "why": .string($0.words),
                    ])
            }
            + (found?.mails ?? []).map {
                ReportedIssue(
                    name: $0.areMessages ? "messages" : "mails", event: "mail.waits",
                    fields: ["realm": .string($0.realm), "why": .string($0.words)])
            }
    }

    private func tell(_ standstill: Standstill, _ found: Reading?, _ told: inout [String]) {
        let matters = matters(standstill, found)
        for matter in matters where !told.contains(matter.name) {
            store.lines.error(matter.event, matter.fields)
        }
        if matters.isEmpty, !told.isEmpty { store.lines.notice("standstill.over") }
        told = matters.map(\.name)
    }
}
