import EventSourcing
import EventStore
import Identity
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// Delivers to one subscription until its task is cancelled, the subscription ends, or another node has it.
final class WebhookRunner: Sendable {
    private struct Outcome: Sendable {
        let item: DeliveryQueue.Item
        let answer: WebhookAnswer
    }

    private let service: WebhookService
    private let realm: RealmID
    private let id: UUID
    private let lease: UUID
    private let outcomes = Mutex<[Outcome]>([])
    private let recent = Mutex<[Int64: Recorded]>([:])
    private let signals: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    private static let page = 250

    init(_ service: WebhookService, _ id: UUID, in realm: RealmID) {
        self.service = service
        self.realm = realm
        self.id = id
        lease = service.newID()
        (signals, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var store: Store { service.store }

    /// An outage of the database is waited out; a log that cannot be read on is an alarm.
    func run() async {
        while !Task.isCancelled {
            var pause = Duration.seconds(1)
            do {
                guard let end = try await deliver() else { return }
                switch end {
                case .leaseLost: return
                case .epochChanged: pause = .zero
                case .halted(let why):
                    service.metrics.halted.add()
                    store.lines.error(
                        "webhook.halted", ["subscription": .uuid(id), "why": .string(why)])
                    pause = .seconds(60)
                case .disabled(let reason, let position):
                    try await disable(reason, position)
                    return
                }
            } catch {
                guard !Task.isCancelled else { return }
                store.lines.warning(
                    "webhook.waits", ["subscription": .uuid(id), "why": .string("\(error)")])
                if (error as? LogFailure)?.isLasting == true { pause = .seconds(60) }
            }
            try? await Task.sleep(for: pause)
        }
    }

    private func disable(_ reason: Subscription.DisableReason, _ position: Int64?) async throws {
        try await service.dispatch(
            DisableSubscription(id: id, reason: reason, position: position), in: realm)
        service.metrics.ended.add()
        store.lines.warning(
            "webhook.disabled",
            ["subscription": .uuid(id), "reason": .string(reason.rawValue)])
    }

    // MARK: - One hold of the subscription

    private func deliver() async throws -> WebhookRun.End? {
        guard let (subscription, created) = try await read(), subscription.standing == .active
        else { return nil }
        let history = try await store.log.epochs(of: realm)
        let start = DeliveryStore.Start(
            LogCursor(
                epoch: history.head.epoch, position: subscription.startsAfter ?? created),
            count: subscription.starts)
        let (progress, waiting) = try await service.deliveries.claim(
            id, in: realm, by: lease, from: start)
        outcomes.withLock { $0 = [] }
        recent.withLock { $0 = [:] }
        var run = WebhookRun(subscription, progress, waiting: waiting)
        switch history.standing(of: progress.cursor) {
        case .valid:
            run.progress.cursor = LogCursor(
                epoch: history.head.epoch, position: progress.cursor.position)
        case .lost(let kept): return try await tellRewound(run, keptTo: kept, history.head)
        case .beyondHead: return .halted("the cursor is beyond the head of the log")
        }
        return try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            return try await work(&run, &group)
        }
    }

    private func read() async throws -> (Subscription, created: Int64)? {
        var subscription = Subscription()
        let events = try await store.log.stream(id, after: 0, in: realm)
        for recorded in events {
            guard let event = SubscriptionEvent(recorded) else { throw LogFailure.damaged }
            subscription.apply(event)
        }
        return events.first.map { (subscription, $0.position) }
    }

    private func work(
        _ run: inout WebhookRun, _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws -> WebhookRun.End? {
        var iterator = signals.makeAsyncIterator()
        var watched: Int64 = -1
        var alarm: Timestamp?
        let hub = store.log.hub
        let restarts = hub.restarts(of: realm)
        // What was committed before the hub heard of this log is found by looking once.
        var isBehind = true
        while !Task.isCancelled {
            if hub.restarts(of: realm) != restarts { run.finish(.epochChanged) }
            if isBehind || hub.head(of: realm) >= run.queue.next {
                isBehind = try await fill(&run)
            }
            let now = store.now(in: realm)
            for item in run.start(at: now) {
                let (subscription, epoch) = (run.subscription, run.progress.cursor.epoch)
                group.addTask { await self.attempt(item, subscription, epoch: epoch) }
            }
            try await record(&run)
            if let end = run.end { return end }
            if isBehind, run.queue.hasRoom { continue }
            if !isBehind, watched != run.queue.next {
                watched = run.queue.next
                let next = watched
                group.addTask {
                    await hub.wait(past: next - 1, in: self.realm, since: restarts)
                    self.wake.yield()
                }
            }
            let due = run.isResting(at: now) ? run.progress.restsUntil : run.queue.nextDue
            if let due, alarm.map({ due < $0 || $0 <= now }) ?? true {
                alarm = due
                let pause = max(1, due.microseconds(since: now) / 1000)
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(pause))
                    self.wake.yield()
                }
            }
            _ = await iterator.next(isolation: nil)
            try await settle(&run)
        }
        return nil
    }

    /// Reads on. True where there may be more at once.
    private func fill(_ run: inout WebhookRun) async throws -> Bool {
        guard run.queue.hasRoom else { return true }
        let next = run.queue.next
        let page = try await store.log.page(from: next, limit: Self.page, in: realm)
        guard page.head.epoch == run.progress.cursor.epoch else {
            run.finish(.epochChanged)
            return false
        }
        let now = store.now(in: realm)
        var expected = next
        for event in page.events {
            guard event.position == expected else { break }
            expected += 1
            recent.withLock { $0[event.position] = event }
            run.take(event, now: now)
        }
        let isWhole = expected - next == Int64(page.events.count)
        if !isWhole || page.events.isEmpty && page.head.position >= next {
            run.finish(.halted("position \(expected) of the log is missing"))
            return false
        }
        return page.head.position >= expected
    }

    // MARK: - Attempts

    private func attempt(
        _ item: DeliveryQueue.Item, _ subscription: Subscription, epoch: Int
    ) async {
        var answer = WebhookAnswer.notTried
        if service.isOurs, let event = await event(at: item.position) {
            let message = WebhookMessage(event, epoch: epoch, isReplay: item.isReplay)
            answer = await service.sender.send(message, to: subscription)
            service.metrics.count(answer.outcome)
            if answer.verdict == .taken, item.attempts == 0, !item.isReplay {
                service.metrics.delays.observe(
                    Double(store.now(in: realm).microseconds(since: event.at)) / 1_000_000)
            }
        }
        // Nothing is hurried where nothing can be done.
        if answer.verdict == .notTried { try? await Task.sleep(for: .milliseconds(250)) }
        guard !Task.isCancelled else { return }
        outcomes.withLock { $0.append(Outcome(item: item, answer: answer)) }
        wake.yield()
    }

    private func event(at position: Int64) async -> Recorded? {
        if let event = recent.withLock({ $0[position] }) { return event }
        let page = try? await store.log.page(from: position, limit: 1, in: realm)
        return page?.events.first { $0.position == position }
    }

    private func settle(_ run: inout WebhookRun) async throws {
        let settled = outcomes.withLock { outcomes in
            defer { outcomes = [] }
            return outcomes
        }
        for outcome in settled {
            let lost = run.settle(
                outcome.item, outcome.answer, at: store.now(in: realm),
                chance: .random(in: 0..<1))
            if outcome.answer.verdict == .taken {
                recent.withLock { $0[outcome.item.position] = nil }
            }
            if let lost {
                service.metrics.dead.add()
                try await service.dispatch(
                    GiveUpDelivery(subscription: id, delivery: lost), in: realm)
            }
        }
    }

    private func record(_ run: inout WebhookRun) async throws {
        let position = run.queue.position
        recent.withLock { events in
            if events.count > 2 * DeliveryQueue.windowLimit {
                events = events.filter { $0.key > position }
            }
        }
        guard let step = run.takeStep() else { return }
        guard try await service.deliveries.write(step, of: id, in: realm, by: lease) else {
            run.finish(.leaseLost)
            return
        }
    }

    // MARK: - A log that went back

    /// What was delivered of the lost tail has to be undone by the receiver, who is told before anything
    /// else is sent. An administrator says when it goes on.
    private func tellRewound(
        _ run: WebhookRun, keptTo kept: Int64, _ head: Head
    ) async throws -> WebhookRun.End? {
        var failures = 0
        while !Task.isCancelled {
            let message = WebhookMessage(
                id: "rewound_\(id)_\(head.epoch)", type: "log.rewound",
                at: store.now(in: realm),
                data: [
                    "realm": .string(realm.name), "epoch": .integer(Int64(head.epoch)),
                    "kept_to": .integer(kept),
                ])
            let answer =
                service.isOurs
                ? await service.sender.send(message, to: run.subscription) : .notTried
            if answer.verdict == .taken || answer.verdict == .gone {
                var progress = DeliveryProgress(
                    cursor: LogCursor(epoch: head.epoch, position: min(kept, head.position)))
                progress.lastStatus = answer.status
                let isOurs = try await service.deliveries.write(
                    DeliveryStore.Step(progress), of: id, in: realm, by: lease)
                return isOurs ? .disabled(.rewound, position: kept) : .leaseLost
            }
            failures += 1
            try await Task.sleep(
                for: RetrySchedule.rest(
                    after: failures, chance: .random(in: 0..<1), asked: answer.retryAfter))
        }
        return nil
    }
}

extension JSON {
    fileprivate static func uuid(_ id: UUID) -> JSON { .string(id.description) }
}
