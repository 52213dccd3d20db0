import API
import EventSourcing
import Identity
import JSON
import ReadModels
import Values

/// A subscription as its own events have it.
struct KnownWebhook: Sendable {
    let subscription: Subscription
    /// How many of its own events the subscription was folded from.
    let version: Int
    /// The position that it was created at.
    let createdAt: Int64
    /// What the log lost before this position is told already, or is from before its time.
    let rewoundAt: Int64

    init?(_ id: UUID, in realm: RealmID, _ log: any EventLog) async throws(LogFailure) {
        var subscription = Subscription()
        var rewoundAt: Int64 = 0
        let events = try await log.stream(id, after: 0, in: realm)
        for recorded in events {
            guard let event = SubscriptionEvent(recorded) else { throw .damaged }
            subscription.apply(event)
            if case .disabled(.rewound, _, _) = event { rewoundAt = recorded.position }
        }
        guard let first = events.first, let last = events.last else { return nil }
        version = last.version
        self.subscription = subscription
        self.rewoundAt = max(rewoundAt, first.position)
        createdAt = first.position
    }
}

/// A log that went back.
extension WebhookRunner {
    /// What was delivered of the lost tail has to be undone by the receiver, who is told before anything
    /// else is sent. An administrator says when it goes on.
    func tellRewound(
        _ run: WebhookRun, keptTo kept: Int64, _ head: Head
    ) async throws -> WebhookRun.End? {
        var progress = run.progress
        while !Task.isCancelled, !isEnding {
            let now = store.now(in: realm)
            let message = WebhookMessage(
                id: "rewound_\(id)_\(head.epoch)", type: "log.rewound", at: now,
                data: [
                    "realm": .string(realm.name), "epoch": .integer(Int64(head.epoch)),
                    "kept_to": .integer(kept),
                ])
            let answer =
                service.isOurs
                ? await service.sender.send(message, to: run.subscription, in: realm) : .notTried
            guard answer.verdict != .notTried else {
                try await Task.sleep(for: .seconds(1))
                continue
            }
            service.metrics.count(answer.outcome)
            if answer.verdict == .gone {
                return .gone(from: run.subscription.terms.url, position: kept)
            }
            let isTaken = answer.verdict == .taken
            if isTaken {
                progress = DeliveryProgress(
                    cursor: LogCursor(
                        epoch: head.epoch,
                        position: min(kept, head.position, progress.cursor.position)))
            } else {
                progress.failures += 1
                progress.blockedSince = progress.blockedSince ?? now
            }
            progress.lastStatus = answer.status
            var step = DeliveryStore.Step(progress)
            step.attempts = [DeliveryAttempt(message, answer, at: now)]
            guard try await service.deliveries.write(step, of: id, in: realm, by: lease) else {
                return .leaseLost
            }
            if isTaken {
                service.forgetSent(to: id, in: realm)
                return .disabled(.rewound, position: kept)
            }
            // Once it is resumed, the receiver learns of it first.
            if let since = progress.blockedSince,
                since.adding(seconds: WebhookRun.disabledAfter) <= now
            {
                return .disabled(.failing, position: kept)
            }
            try await Task.sleep(
                for: RetrySchedule.rest(
                    after: progress.failures, chance: .random(in: 0..<1),
                    asked: answer.retryAfter))
        }
        return nil
    }
}

extension DeliveryAttempt {
    /// Of a message that is in no log.
    init(_ message: WebhookMessage, _ answer: WebhookAnswer, at now: Timestamp) {
        self.init(
            position: 0, type: message.type, at: now,
            milliseconds: Int(answer.took / .milliseconds(1)), status: answer.status,
            outcome: answer.outcome, isReplay: false, answer: answer.text)
    }
}
