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
    private let taken = Mutex(Taken())
    /// How far the log of each realm was looked through for mails.
    private let looked = Mutex<[RealmID: Int64]>([:])

    /// Mails under way, and those whose record the read model has not seen yet.
    private struct Taken {
        var underWay: Set<DueMails.Entry> = []
        var settled: [DueMails.Entry: ContinuousClock.Instant] = [:]

        /// Those that are free to be taken, as many as there is room for.
        mutating func take(_ entries: [DueMails.Entry]) -> [DueMails.Entry] {
            var fresh: [DueMails.Entry] = []
            for entry in entries where underWay.count < Mailer.limit && settled[entry] == nil {
                if underWay.insert(entry).inserted { fresh.append(entry) }
            }
            return fresh
        }
    }

    /// As many are under way at once.
    private static let limit = 64
    /// The read model sees a record after this time at the latest, or the mail counts as not sent.
    private static let patience = Duration.seconds(60)
    /// How often the read model is asked for what is due: mails that the log asked for just now are
    /// found by following it.
    private static let round = Duration.milliseconds(100)

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
            group.addTask {
                await withDiscardingTaskGroup { group in
                    await self.store.log.hub.watch { heads in
                        for entry in await self.ordered(upTo: heads) {
                            group.addTask { await self.deliver(entry) }
                        }
                    }
                }
            }
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    looked.withLock { $0 = [:] }
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                lead()
                for entry in await due() {
                    group.addTask { await self.deliver(entry) }
                }
                try await Task.sleep(for: Self.round)
            }
        }
    }

    /// From here on the log is followed. What it asked for before is due already.
    private func lead() {
        let hub = store.log.hub
        looked.withLock { looked in
            for realm in hub.realms where looked[realm] == nil {
                looked[realm] = hub.head(of: realm)
            }
        }
    }

    /// New mails, on the node that leads. What is not found here, or has no room, is found due later.
    private func ordered(upTo heads: [RealmID: Int64]) async -> [DueMails.Entry] {
        let stretches = looked.withLock { looked in
            var stretches: [(realm: RealmID, after: Int64, last: Int64)] = []
            for (realm, head) in heads {
                guard let after = looked[realm], after < head else { continue }
                stretches.append((realm, after, head))
                looked[realm] = head
            }
            return stretches
        }
        var found: [DueMails.Entry] = []
        for (realm, after, last) in stretches {
            found +=
                (try? await queue.ordered(behind: after, upTo: last, in: realm)) ?? []
        }
        return taken.withLock { $0.take(found) }
    }

    /// Due mails that are not under way, as many as there is room for.
    private func due() async -> [DueMails.Entry] {
        let now = ContinuousClock.now
        let known = taken.withLock { taken in
            taken.settled = taken.settled.filter { $0.value > now }
            return taken.settled.count + taken.underWay.count
        }
        guard
            let due = try? await queue.due(at: Log.systemTime(), limit: known + Self.limit)
        else { return [] }
        return taken.withLock { $0.take(due) }
    }

    private func deliver(_ entry: DueMails.Entry) async {
        var rest = Self.patience
        defer {
            let until = ContinuousClock.now + rest
            taken.withLock {
                $0.underWay.remove(entry)
                $0.settled[entry] = until
            }
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
