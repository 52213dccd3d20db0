import API
import EventSourcing
import EventStore
import HTTPClient
import Identity
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// Delivers to one subscription until its task is cancelled, the subscription ends, or another node has it.
final class WebhookRunner: Sendable {
    struct Outcome: Sendable {
        let item: DeliveryQueue.Item
        var answer: WebhookAnswer
        /// Why the event cannot be sent at all.
        var fault: String?
    }

    /// How the newest step is put on record; false where another node has the subscription.
    enum Recording: Sendable {
        case isUnderWay(Task<Bool, any Error>)
        case isDone(Result<Bool, any Error>)
    }

    struct Shared: Sendable {
        var outcomes: [Outcome] = []
        /// Events that were read and are not delivered yet, by position.
        var recent: [Int64: Recorded] = [:]
        /// What was read of the log last, until the run takes it in.
        var passage: Result<PrefetchedPage, any Error>?
        var recording = Recording.isDone(.success(true))
        /// Whether no delivery is begun any more, not even a ready one.
        var isHeld = false
        /// Whether the receiver was not reached since deliveries were begun last: those that were on their way
        /// to it wait as well.
        var isFailing = false
        var hasRung = false
        var isToEnd = false
        /// Whether the runner itself looks at `isToEnd`: before it begins, and while it sends.
        var endsByItself = true
        var lag = WebhookLag()

        /// For another hold of the subscription.
        mutating func begin() {
            (outcomes, recent, passage, isHeld, isFailing) = ([], [:], nil, false, false)
            recording = .isDone(.success(true))
        }
    }

    /// How far the log is read.
    enum Reading {
        case isDone
        /// There may be more events at once.
        case isBehind
        /// Deliveries go on meanwhile.
        case isUnderWay
        case waitsForIndex
    }

    let service: WebhookService
    let realm: RealmID
    let id: UUID
    let lease: UUID
    /// What the tasks of the runner tell each other.
    let shared = Mutex(Shared())
    /// What is under way goes by it, so that a few messages can be ready beside those that are sent.
    let limit = RequestLimit(WebhookRun.mostAtOnce)
    private let signals: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    init(_ service: WebhookService, _ id: UUID, in realm: RealmID) {
        self.service = service
        self.realm = realm
        self.id = id
        lease = service.newID()
        (signals, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var store: Store { service.store }

    /// The lag behind the log.
    var lag: WebhookLag { shared.withLock { $0.lag } }

    /// Whether another runner begins with what an administrator changed.
    var isEnding: Bool { shared.withLock { $0.isToEnd } }

    /// Starts no delivery any more, and ends once the deliveries under way are answered.
    /// - Returns: false where it only waits for better times: its task has to be cancelled.
    func end() -> Bool {
        let endsByItself = shared.withLock { shared in
            shared.isToEnd = true
            return shared.endsByItself
        }
        wake.yield()
        return endsByItself
    }

    /// An outage of the database is waited out; a log that cannot be read on is an alarm.
    func run() async {
        shared.withLock { $0.endsByItself = false }
        while !Task.isCancelled, !isEnding {
            var pause = Duration.seconds(1)
            do {
                guard let end = try await deliver() else { return }
                switch end {
                case .leaseLost, .changed: return
                case .epochChanged, .rewound: pause = .zero
                case .halted(let why, let position):
                    try await halt(why, position)
                    pause = .seconds(60)
                case .disabled(let reason, let position):
                    try await disable(reason, position)
                    return
                case .gone(let address, let position):
                    // Also where this runner was cancelled meanwhile.
                    try await Task { try await disable(.gone, position, url: address) }.value
                    return
                }
            } catch {
                guard !Task.isCancelled else { return }
                store.lines.warning(
                    "webhook.waits", ["subscription": .uuid(id), "why": .string("\(error)")])
                if (error as? LogFailure)?.isLasting == true { pause = .seconds(60) }
            }
            if isEnding { return }
            try? await Task.sleep(for: pause)
        }
    }

    private func disable(
        _ reason: Subscription.DisableReason, _ position: Int64?, url: String? = nil
    ) async throws {
        let isDisabled = try await service.dispatch(
            SubscriptionChange.disable(
                id, reason: reason, position: position, url: url,
                mail: await service.mailToContact(of: realm)), in: realm)
        guard isDisabled else { return }
        service.metrics.ended.add()
        store.lines.warning(
            "webhook.disabled",
            ["subscription": .uuid(id), "reason": .string(reason.rawValue)])
    }

    private func halt(_ why: String, _ position: Int64) async throws {
        service.metrics.halted.add()
        store.lines.error(
            "webhook.halted",
            [
                "subscription": .uuid(id), "position": .integer(position), "why": .string(why),
            ])
        try await service.dispatch(
            SubscriptionChange.halt(id, position: position, reason: why), in: realm)
    }

    // MARK: - One hold of the subscription

    private func deliver() async throws -> WebhookRun.End? {
        guard let known = try await KnownWebhook(id, in: realm, store.log),
            known.subscription.standing == .active
        else { return nil }
        let subscription = known.subscription
        let history = try await store.log.epochs(of: realm)
        let start = DeliveryStore.Start(
            LogCursor(
                epoch: history.head.epoch,
                position: subscription.startsAfter ?? known.createdAt),
            count: subscription.starts, runs: subscription.runs,
            keepsErasures: subscription.everIncludedPersonal,
            order: WebhookRun.order(of: subscription))
        let (progress, waiting) = try await service.deliveries.claim(
            id, in: realm, by: lease, from: start)
        shared.withLock { $0.begin() }
        var run = WebhookRun(
            subscription, id: id, progress, waiting: waiting, version: known.version,
            toldOfRewind: known.rewoundAt)
        // The cursor went back with the log; what this node remembers did not.
        let sent = service.sent(to: id, in: realm)
        for cursor in [progress.cursor] + (sent.map { [$0] } ?? []) {
            switch history.standing(of: cursor) {
            case .valid: break
            case .lost(let kept): return try await tellRewound(run, keptTo: kept, history.head)
            case .beyondHead:
                return .halted(
                    "the cursor is beyond the head of the log", position: cursor.position)
            }
        }
        // No receiver may remember what was sent of a tail that is known to be lost.
        if let kept = history.loss(since: known.rewoundAt) {
            return try await tellRewound(run, keptTo: kept, history.head)
        }
        run.progress.cursor = LogCursor(
            epoch: history.head.epoch, position: progress.cursor.position)
        let issuer = await service.issuer(of: realm)
        shared.withLock { $0.endsByItself = true }
        defer { shared.withLock { $0.endsByItself = false } }
        let end = try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            return try await work(&run, issuer: issuer, &group)
        }
        shared.withLock { $0.endsByItself = false }
        guard case .rewound(let kept)? = end else { return end }
        return try await tellRewound(run, keptTo: kept, history.head)
    }

    private func work(
        _ run: inout WebhookRun, issuer: String,
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws -> WebhookRun.End? {
        var iterator = signals.makeAsyncIterator()
        var watched: Int64 = -1
        var alarm: Timestamp?
        let hub = store.log.hub
        let restarts = hub.restarts(of: realm)
        // What was committed before the hub heard of this log is found by looking once.
        var reading = Reading.isBehind
        while !Task.isCancelled {
            if hub.restarts(of: realm) != restarts { run.finish(.epochChanged) }
            if isEnding { run.finish(.changed) }
            if run.end == nil {
                reading = try advance(reading, &run, &group)
                try await disclose(&run)
            }
            if run.end != nil { shared.withLock { $0.isHeld = true } }
            // It may have rung too early, by this clock: then it is set again.
            if takeRing() { alarm = nil }
            let now = store.now(in: realm)
            run.endIfFailing(at: now)
            start(&run, at: now, issuer: issuer, &group)
            try record(&run, at: now, &group)
            if run.isWindingUp {
                _ = await iterator.next(isolation: nil)
                try await settle(&run)
                continue
            }
            if run.end != nil {
                try await recordRest(of: &run)
                return run.outcome
            }
            try await warn(of: &run, at: now)
            switch reading {
            case .waitsForIndex:
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(100))
                    self.wake.yield()
                }
            case .isBehind, .isDone, .isUnderWay: break
            }
            if reading == .isDone, watched != run.queue.next {
                watched = run.queue.next
                let next = watched
                group.addTask {
                    await hub.wait(past: next - 1, in: self.realm, since: restarts)
                    self.wake.yield()
                }
            }
            if let due = run.nextLook(at: now), alarm.map({ due < $0 || $0 <= now }) ?? true {
                alarm = due
                let pause = max(1, due.microseconds(since: now) / 1000)
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(pause))
                    self.shared.withLock { $0.hasRung = true }
                    self.wake.yield()
                }
            }
            _ = await iterator.next(isolation: nil)
            try await settle(&run)
        }
        try await recordRest(of: &run)
        if case .gone? = run.outcome { return run.outcome }
        return nil
    }

    /// Whether the alarm rang since it was asked last.
    private func takeRing() -> Bool {
        shared.withLock { shared in
            defer { shared.hasRung = false }
            return shared.hasRung
        }
    }

    /// Puts on record whose data is sent, before it is.
    private func disclose(_ run: inout WebhookRun) async throws {
        while true {
            let positions = run.nextUnlooked
            if positions.isEmpty { break }
            let page = try await store.log.page(at: positions, in: realm)
            let unwanted = try await unwanted(
                of: page.events, run.selection, epoch: page.head.epoch)
            // What this version does not know is not sent, but halts the subscription when its turn comes.
            let known = page.events.filter { run.selection.wants($0) != nil }
            run.look(at: known, leftOut: unwanted ?? [], of: positions)
        }
        while let batch = run.disclosure.batch(at: store.now(in: realm)), service.isOurs {
            try await run.disclosure.record(
                batch, at: store.now(in: realm), in: realm, by: WebhookService.actor,
                id: service.newID(), store.dispatcher)
        }
    }

    private func warn(of run: inout WebhookRun, at now: Timestamp) async throws {
        guard service.isOurs, let since = run.takeWarning(at: now) else { return }
        store.lines.warning("webhook.failing", ["subscription": .uuid(id)])
        try await service.dispatch(
            SubscriptionChange.warn(
                id, since: since, mail: await service.mailToContact(of: realm)), in: realm)
    }

    private func settle(_ run: inout WebhookRun) async throws {
        let settled = shared.withLock { shared in
            defer { shared.outcomes = [] }
            return shared.outcomes
        }
        for outcome in settled {
            if let fault = outcome.fault {
                run.finish(.halted(fault, position: outcome.item.position))
            }
            let lost = run.settle(
                outcome.item, outcome.answer, at: store.now(in: realm),
                chance: .random(in: 0..<1))
            if outcome.answer.verdict == .taken {
                shared.withLock { $0.recent[outcome.item.position] = nil }
            }
            if let lost {
                service.metrics.dead.add()
                try await service.dispatch(
                    SubscriptionChange.giveUp(id, delivery: lost), in: realm)
            }
        }
    }

    /// Puts on record what has come of deliveries, which go on meanwhile: one step after the other.
    private func record(
        _ run: inout WebhookRun, at now: Timestamp,
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) throws {
        let position = run.queue.position
        let recording = shared.withLock { shared in
            if shared.recent.count > 2 * DeliveryQueue.windowLimit {
                shared.recent = shared.recent.filter { $0.key > position }
            }
            shared.lag = WebhookLag(
                position: position, waiting: run.queue.parkedCount,
                since: shared.recent[position + 1]?.at ?? run.progress.blockedSince)
            return shared.recording
        }
        switch recording {
        case .isUnderWay: return
        case .isDone(let result):
            if try !result.get() { return run.finish(.leaseLost) }
        }
        guard run.isStepDue(at: now), let step = run.takeStep() else { return }
        let writing = Task { try await write(step) }
        shared.withLock { $0.recording = .isUnderWay(writing) }
        group.addTask {
            let result = await writing.result
            self.shared.withLock { $0.recording = .isDone(result) }
            self.wake.yield()
        }
    }

    /// Puts on record what was answered until the end, also where that is a cancellation: what was taken is
    /// not sent again.
    private func recordRest(of run: inout WebhookRun) async throws {
        let isOurs =
            switch shared.withLock({ $0.recording }) {
            case .isUnderWay(let writing): try await writing.value
            case .isDone(let result): try result.get()
            }
        guard isOurs else { return run.finish(.leaseLost) }
        run = try await Task { [run] in
            var run = run
            try await settle(&run)
            if let step = run.takeStep(), try await !write(step) { run.finish(.leaseLost) }
            return run
        }.value
    }

    private func write(_ step: DeliveryStore.Step) async throws -> Bool {
        try await service.deliveries.write(step, of: id, in: realm, by: lease)
    }
}

extension JSON {
    static func uuid(_ id: UUID) -> JSON { .string(id.description) }
}
