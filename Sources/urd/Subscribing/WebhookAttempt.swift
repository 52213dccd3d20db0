import API
import EventSourcing
import EventStore
import Identity
import ReadModels
import Synchronization
import Telemetry
import Values

/// Where a message goes and in which form.
struct WebhookTarget: Sendable {
    let subscription: Subscription
    let selection: SubscriptionSelection
    let epoch: Int
    /// What the realm's addresses begin with.
    let issuer: String
    /// Whether the event was chosen by other terms, or was asked for again.
    let isUnchecked: Bool

    /// Why an event that waited cannot be sent: another version of Urd, which knew its type, let it wait.
    func fault(of event: Recorded) -> String? {
        isUnchecked && selection.wants(event) == nil ? WebhookRun.unknownType : nil
    }
}

/// How far a subscription is behind.
struct WebhookLag: Sendable {
    var position: Int64 = 0
    /// Deliveries that are to be tried again.
    var waiting = 0
    /// When the oldest event happened that is not done, or since when nothing is taken.
    var since: Timestamp?
}

/// One attempt to deliver an event.
extension WebhookRunner {
    /// Begins all deliveries that may be sent now.
    func start(
        _ run: inout WebhookRun, at now: Timestamp, issuer: String,
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) {
        let items = run.start(at: now)
        if !items.isEmpty {
            shared.withLock { shared in
                shared.isFailing = shared.outcomes.contains { $0.answer.verdict == .unreachable }
            }
        }
        for item in items {
            let target = WebhookTarget(
                subscription: run.subscription, selection: run.selection,
                epoch: run.progress.cursor.epoch, issuer: issuer,
                isUnchecked: run.isUnchecked(item))
            group.addTask { await self.attempt(item, target) }
        }
    }

    private func attempt(_ item: DeliveryQueue.Item, _ target: WebhookTarget) async {
        var outcome = Outcome(item: item, answer: .notTried)
        if service.isOurs {
            do {
                if let event = try await event(at: item.position, target) {
                    outcome.fault = target.fault(of: event)
                    if outcome.fault == nil {
                        outcome.answer = try await answer(to: event, item, target)
                    }
                } else {
                    outcome.fault = "it is missing in the log"
                }
            } catch {
                if (error as? LogFailure) == .damaged { outcome.fault = "it cannot be read" }
            }
        }
        // Nothing is hurried where nothing can be done.
        if outcome.answer.verdict == .notTried, outcome.fault == nil {
            try? await Task.sleep(for: .milliseconds(250))
        }
        guard !Task.isCancelled else { return }
        shared.withLock { [outcome] shared in
            shared.outcomes.append(outcome)
            if outcome.answer.verdict == .unreachable { shared.isFailing = true }
        }
        wake.yield()
    }

    private func answer(
        to event: Recorded, _ item: DeliveryQueue.Item, _ target: WebhookTarget
    ) async throws -> WebhookAnswer {
        guard target.isUnchecked else { return try await send(event, item, target) }
        let unwanted = try await unwanted(of: [event], target.selection, epoch: target.epoch)
        guard let unwanted else { return .notTried }
        return unwanted.isEmpty ? try await send(event, item, target) : .leftOut
    }

    private func send(
        _ event: Recorded, _ item: DeliveryQueue.Item, _ target: WebhookTarget
    ) async throws(LogFailure) -> WebhookAnswer {
        let terms = target.subscription.terms
        let stream =
            terms.format == .ocsf
            ? try await store.log.stream(event.stream, after: 0, in: realm) : []
        let message = WebhookMessage(
            event, epoch: target.epoch, issuer: target.issuer, terms: terms, stream: stream,
            isReplay: item.isReplay)
        // It may have taken a while to get here.
        guard service.isOurs else { return .notTried }
        service.noteSent(
            LogCursor(epoch: target.epoch, position: item.position), to: id, in: realm)
        let answer = await service.sender.send(
            message, to: target.subscription, in: realm, limit: limit,
            begins: { self.service.isOurs && self.shared.withLock { !$0.isHeld && !$0.isFailing } })
        service.metrics.count(answer.outcome)
        if answer.verdict == .taken, item.attempts == 0, !item.isReplay {
            service.metrics.delays.observe(
                Double(store.now(in: realm).microseconds(since: event.at)) / 1_000_000)
        }
        return answer
    }

    /// Personal fields are opened as late as can be: what was erased meanwhile is not sent.
    private func event(
        at position: Int64, _ target: WebhookTarget
    ) async throws(LogFailure) -> Recorded? {
        if target.subscription.terms.includesPersonal {
            return try await store.log.events(from: position, limit: 1, in: realm)
                .first { $0.position == position }
        }
        if let event = shared.withLock({ $0.recent[position] }) { return event }
        return try await store.log.page(from: position, limit: 1, in: realm).events
            .first { $0.position == position }
    }
}
