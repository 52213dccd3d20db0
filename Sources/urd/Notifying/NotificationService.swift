import API
import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Telemetry
import Values

/// Sends the notifications that the log asks for, and puts on record what became of each. One node does
/// so at a time; when it goes, another takes its place. A device may be shown one twice where a node dies
/// between the provider's yes and the record of it, and never not at all.
final class NotificationService: Sendable {
    private let store: Store
    private let delivery: NotificationDelivery
    private let rounds: DueWorkRounds
    private let outcomes: Outcomes

    /// The read model sees a record after this time at the latest, or it is tried again.
    private static let patience = Duration.seconds(60)

    init(_ store: Store, delivery: NotificationDelivery) {
        self.store = store
        self.delivery = delivery
        rounds = DueWorkRounds(.notifications, of: "notifications", store)
        outcomes = Outcomes(store.metrics)
    }

    /// Delivers due notifications until the task is cancelled.
    func run() async throws {
        try await rounds.run { await self.deliver($0) }
    }

    /// - Returns: the delay before the next attempt.
    private func deliver(_ entry: DueWork.Entry) async -> Duration {
        do {
            let attempt = try await delivery.attempt(entry.id, in: entry.realm)
            for drop in attempt?.gone ?? [] { try await self.drop(drop, in: entry.realm) }
            if let attempt { try await record(attempt.outcome, of: entry) }
            return Self.patience
        } catch {
            store.lines.warning(
                "notification.not_sent",
                [
                    "notification": .string(entry.id.description),
                    "why": .string("\(error)"),
                ])
            // An outage is soon over; what cannot be read is no better in a second.
            return (error as? LogFailure)?.isLasting == true ? Self.patience : .seconds(1)
        }
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
            let now = store.clock.now()
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
        let now = store.clock.now()
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
            now: store.clock.now)
        self.init(
            events: store.log, queries: queries, courier: courier, now: store.clock.now)
    }
}
