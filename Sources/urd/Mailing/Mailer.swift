import API
import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Values

/// Sends the mails that the log asks for, and puts on record what became of each. One node does so at
/// a time; when it goes, another takes its place. A mail may go out twice where a node dies between
/// the server's yes and the record of it, and never not at all.
final class Mailer: Sendable {
    private let store: Store
    private let composer: MailComposer
    private let carrier: any MailCarrier
    private let queue: DueMails
    private let leadership: Leadership
    private let outcomes: Outcomes
    /// Mails under way, and those whose record the read model has not seen yet.
    private let taken = Mutex<[DueMails.Entry: ContinuousClock.Instant?]>([:])

    /// As many are under way at once.
    private static let limit = 64
    /// The read model sees a record after this time at the latest, or the mail counts as not sent.
    private static let patience = Duration.seconds(60)

    init(_ store: Store, composer: MailComposer, carrier: any MailCarrier) {
        self.store = store
        self.composer = composer
        self.carrier = carrier
        queue = DueMails(store.database)
        leadership = Leadership(of: "mailer", at: store.database.address)
        outcomes = Outcomes(store.metrics)
    }

    /// Runs until it is cancelled. An outage of the database is waited out.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var quiet = Duration.zero
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                let entries = await next()
                for entry in entries {
                    group.addTask { await self.deliver(entry) }
                }
                quiet = entries.isEmpty ? min(quiet + .milliseconds(10), .milliseconds(100)) : .zero
                try await Task.sleep(for: max(quiet, .milliseconds(5)))
            }
        }
    }

    /// Due mails that are not under way, as many as there is room for.
    private func next() async -> [DueMails.Entry] {
        let now = ContinuousClock.now
        let (room, held) = taken.withLock { taken in
            taken = taken.filter { $0.value.map { now - $0 < Self.patience } ?? true }
            return (Self.limit - taken.count { $0.value == nil }, taken.count)
        }
        guard room > 0,
            let due = try? await queue.due(at: Log.systemTime(), limit: held + room)
        else { return [] }
        return taken.withLock { taken in
            let fresh = due.filter { !taken.keys.contains($0) }.prefix(room)
            for entry in fresh { taken.updateValue(nil, forKey: entry) }
            return Array(fresh)
        }
    }

    private func deliver(_ entry: DueMails.Entry) async {
        var rest = Self.patience
        defer {
            // As if it had been settled so long ago that the rest is what is left to wait.
            let since = ContinuousClock.now - (Self.patience - rest)
            taken.withLock { _ = $0.updateValue(since, forKey: entry) }
        }
        do {
            let letter = try await composer.letter(at: entry.position, in: entry.realm)
            guard let letter, letter.deadline.map({ Log.systemTime() < $0 }) ?? true else {
                return try await record(.refusedForGood(code: 0), of: entry, nil)
            }
            let outcome = await carrier.carry(letter, as: entry.mail)
            try await record(outcome, of: entry, letter.deadline)
        } catch {
            // An outage is soon over; what cannot be read is no better in a second.
            if error as? LogFailure != .damaged { rest = .seconds(1) }
            store.lines.warning(
                "mail.not_made",
                ["mail": .string(entry.mail.description), "why": .string("\(error)")])
        }
    }

    /// What the server said is not lost to an outage: it is told until it is on record. Whatever
    /// stands in the way, a mail that was taken is not sent again by this process.
    private func record(
        _ outcome: RecordDelivery.Outcome, of entry: DueMails.Entry, _ deadline: Timestamp?
    ) async throws {
        outcomes.count(outcome)
        var pause = Duration.milliseconds(100)
        while true {
            let now = Log.systemTime()
            let command = RecordDelivery(
                mail: entry.mail, outcome: outcome, deadline: deadline, now: now)
            do {
                _ = try await store.dispatcher.dispatch(
                    command, in: entry.realm, id: newID(now), digest: [],
                    origin: Origin(actor: "mailer", at: now))
                return
            } catch is RecordDelivery.Rejection {
                return
            } catch {
                try Task.checkCancellation()
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(30))
            }
        }
    }

    private func newID(_ now: Timestamp) -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: now, using: &random)
    }

    private struct Outcomes: Sendable {
        private let sent: Counter
        private let deferred: Counter
        private let failed: Counter

        init(_ metrics: Metrics) {
            let all = metrics.counter(
                "urd_mail_attempts_total", help: "Attempts to send a mail, by what came of them.",
                labels: ["outcome"])
            sent = all.handle(["sent"])
            deferred = all.handle(["deferred"])
            failed = all.handle(["failed"])
        }

        func count(_ outcome: RecordDelivery.Outcome) {
            switch outcome {
            case .taken: sent.add()
            case .refusedForNow: deferred.add()
            case .refusedForGood: failed.add()
            }
        }
    }
}
