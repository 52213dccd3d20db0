import API
import EventSourcing
import EventStore
import Identity
import ReadModels
import Telemetry
import Values

/// Sends the notifications that the log asks for, and puts on record what became of each.
final class NotificationService: Sendable {
    private let store: Store
    private let delivery: NotificationDelivery
    private let outbox: Outbox
    private let outcomes: Outcomes

    init(_ store: Store, delivery: NotificationDelivery) {
        self.store = store
        self.delivery = delivery
        outbox = Outbox(
            .notifications, of: "notifications", line: "notification.not_sent",
            field: "notification", store)
        outcomes = Outcomes(store.metrics)
    }

    /// Delivers due notifications until the task is cancelled.
    func run() async throws {
        try await outbox.run { try await self.deliver($0) }
    }

    private func deliver(_ entry: DueWork.Entry) async throws -> Bool {
        guard let attempt = try await delivery.attempt(entry.id, in: entry.realm) else {
            return true
        }
        for drop in attempt.gone { try await self.drop(drop, in: entry.realm) }
        outcomes.count(attempt.outcome)
        try await store.record(
            RecordNotification(
                notification: entry.id, outcome: attempt.outcome, mail: store.newID(),
                now: store.clock.now()), in: entry.realm, by: "notifications")
        return true
    }

    private func drop(_ command: DropDeviceToken, in realm: RealmID) async throws {
        do {
            try await store.dispatch(command, in: realm, by: "notifications")
        } catch is DropDeviceToken.Rejection {
            // Its app has said where it is now, or is gone already.
            return
        }
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
