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

/// Sends the notifications that the log asks for, and puts on record what became of each. One node does
/// so at a time; when it goes, another takes its place. A device may be shown one twice where a node dies
/// between the provider's yes and the record of it, and never not at all.
final class NotificationService: Sendable {
    private let store: Store
    private let delivery: NotificationDelivery
    private let queue: DueWork
    private let leadership: Leadership
    private let outcomes: Outcomes
    /// Those under way, and those whose record the read model has not seen yet: until when.
    private let taken = Mutex<[DueWork.Entry: ContinuousClock.Instant]>([:])

    private static let limit = 32
    /// The read model sees a record after this time at the latest, or it is tried again. Ten devices by
    /// two routes, each of which may let us wait, take no longer.
    private static let patience = Duration.seconds(600)

    init(_ store: Store, delivery: NotificationDelivery) {
        self.store = store
        self.delivery = delivery
        queue = DueWork(.notifications, store.database)
        leadership = Leadership(of: "notifications", at: store.database.address)
        outcomes = Outcomes(store.metrics)
    }

    /// Runs until it is cancelled. An outage of the database is waited out.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                for entry in await next() {
                    group.addTask { await self.deliver(entry) }
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private func next() async -> [DueWork.Entry] {
        let now = ContinuousClock.now
        let held = taken.withLock { taken in
            taken = taken.filter { now < $0.value }
            return taken.count
        }
        guard held < Self.limit * 4,
            let due = try? await queue.due(at: Log.systemTime(), limit: held + Self.limit)
        else { return [] }
        return taken.withLock { taken in
            let fresh = due.filter { taken[$0] == nil }.prefix(Self.limit)
            for entry in fresh { taken[entry] = now + Self.patience }
            return Array(fresh)
        }
    }

    private func deliver(_ entry: DueWork.Entry) async {
        do {
            let attempt = try await delivery.attempt(entry.id, in: entry.realm)
            for drop in attempt?.gone ?? [] { try await self.drop(drop, in: entry.realm) }
            if let attempt { try await record(attempt.outcome, of: entry) }
            release(entry, after: .seconds(60))
        } catch {
            // An outage is soon over; what cannot be read is no better in a second.
            let isDamaged = error as? LogFailure == .damaged
            release(entry, after: isDamaged ? Self.patience : .seconds(1))
            store.lines.warning(
                "notification.not_sent",
                [
                    "notification": .string(entry.id.description),
                    "why": .string("\(error)"),
                ])
        }
    }

    private func release(_ entry: DueWork.Entry, after rest: Duration) {
        taken.withLock { $0[entry] = ContinuousClock.now + rest }
    }

    private func drop(_ command: DropDeviceToken, in realm: RealmID) async throws {
        do {
            try await dispatch(command, in: realm)
        } catch is DropDeviceToken.Rejection {
            // Its app has said where it is now, or is gone already.
            return
        }
    }

    /// Told until it is on record, so that a device that was shown it is not shown it again by this
    /// process.
    private func record(
        _ outcome: RecordNotification.Outcome, of entry: DueWork.Entry
    ) async throws {
        outcomes.count(outcome)
        var pause = Duration.milliseconds(100)
        while true {
            let now = Log.systemTime()
            do {
                try await dispatch(
                    RecordNotification(
                        notification: entry.id, outcome: outcome, mail: newID(now),
                        now: now), in: entry.realm)
                return
            } catch is RecordNotification.Rejection {
                return
            } catch {
                try Task.checkCancellation()
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(30))
            }
        }
    }

    private func dispatch(_ command: some Command, in realm: RealmID) async throws {
        let now = Log.systemTime()
        _ = try await store.dispatcher.dispatch(
            command, in: realm, id: newID(now), digest: [],
            origin: Origin(actor: "notifications", at: now))
    }

    private func newID(_ now: Timestamp) -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: now, using: &random)
    }

    private struct Outcomes: Sendable {
        private let pushed: Counter
        private let deferred: Counter
        private let refused: Counter

        init(_ metrics: Metrics) {
            let all = metrics.counter(
                "urd_notification_attempts_total",
                help: "Attempts to show a notification on devices, by what came of them.",
                labels: ["outcome"])
            pushed = all.handle(["pushed"])
            deferred = all.handle(["deferred"])
            refused = all.handle(["refused"])
        }

        func count(_ outcome: RecordNotification.Outcome) {
            switch outcome {
            case .pushed: pushed.add()
            case .refusedForNow: deferred.add()
            case .refusedForGood, .pointless: refused.add()
            }
        }
    }
}

extension NotificationDelivery {
    init(_ store: Store, _ queries: ReadModelQueries, _ outgoing: OutgoingCalls?) {
        let courier = PushCourier(
            transport: { call in await outgoing?.push(call) ?? .forbidden },
            now: Log.systemTime)
        self.init(
            events: store.log, queries: queries, courier: courier, now: Log.systemTime)
    }
}
