import EventSourcing
import Identity
import ReadModels
import Synchronization
import Values

/// One subscription in the hands of this node: what it knows, and what the next step puts on record.
struct WebhookRun: Sendable {
    enum End: Sendable, Equatable {
        case disabled(Subscription.DisableReason, position: Int64?)
        /// Another node has it.
        case leaseLost
        /// The log is in another epoch: all that was read is void.
        case epochChanged
        case halted(String)
    }

    static let warningAfter: Int64 = 12 * 3600
    static let disabledAfter: Int64 = 5 * 86_400

    let subscription: Subscription
    var queue: DeliveryQueue
    var progress: DeliveryProgress
    private(set) var step = DeliveryQueue.Record()
    private(set) var attempts: [DeliveryAttempt] = []
    private(set) var givenUp: [Delivery] = []
    private(set) var end: End?

    init(
        _ subscription: Subscription, _ progress: DeliveryProgress, waiting: [Delivery]
    ) {
        self.subscription = subscription
        self.progress = progress
        let most =
            switch subscription.terms.order {
            case .stream: 8
            case .strict: 1
            case .none: 32
            }
        queue = DeliveryQueue(
            position: progress.cursor.position, done: progress.done,
            parked: waiting.map(DeliveryQueue.Parked.init), most: most)
    }

    var order: DeliveryOrder {
        switch subscription.terms.order {
        case .stream: .stream
        case .strict: .strict
        case .none: .none
        }
    }

    mutating func finish(_ end: End) { self.end = self.end ?? end }

    // MARK: - Steps

    mutating func take(_ event: Recorded, now: Timestamp) {
        queue.take(
            event.position,
            lane: Delivery.lane(of: event.stream, at: event.position, in: order),
            type: event.name, isWanted: subscription.terms.filter.wants(event.name), now: now,
            &step)
    }

    func isResting(at now: Timestamp) -> Bool {
        progress.restsUntil.map { now < $0 } ?? false
    }

    /// After a failure to reach the receiver a single delivery tries whether it is there again.
    mutating func start(at now: Timestamp) -> [DeliveryQueue.Item] {
        guard end == nil, !isResting(at: now) else { return [] }
        if progress.failures > 0 {
            return queue.isIdle ? queue.start(at: now, most: 1) : []
        }
        return queue.start(at: now)
    }

    /// - Returns: a delivery that was given up, to be put on record.
    mutating func settle(
        _ item: DeliveryQueue.Item, _ answer: WebhookAnswer, at now: Timestamp, chance: Double
    ) -> GivenUpDelivery? {
        guard answer.verdict != .notTried else {
            queue.putBack(item)
            return nil
        }
        note(item, answer, at: now)
        progress.lastStatus = answer.status
        if answer.verdict == .taken {
            queue.settle(item, &step)
            (progress.failures, progress.restsUntil, progress.blockedSince) = (0, nil, nil)
            return nil
        }
        progress.blockedSince = progress.blockedSince ?? now
        var lost: GivenUpDelivery?
        switch answer.verdict {
        case .taken, .notTried: break
        case .gone:
            queue.putBack(item)
            finish(.disabled(.gone, position: item.position))
        case .unreachable:
            queue.putBack(item)
            // Those that were under way together fail together, and count once.
            if !isResting(at: now) {
                progress.failures += 1
                let rest = RetrySchedule.rest(
                    after: progress.failures, chance: chance, asked: answer.retryAfter)
                progress.restsUntil = now.adding(rest)
            }
        case .refused: lost = refuse(item, answer, at: now, chance)
        }
        if let since = progress.blockedSince, since.adding(seconds: Self.disabledAfter) <= now {
            finish(.disabled(.failing, position: item.position))
        }
        return lost
    }

    private mutating func refuse(
        _ item: DeliveryQueue.Item, _ answer: WebhookAnswer, at now: Timestamp, _ chance: Double
    ) -> GivenUpDelivery? {
        let pause = RetrySchedule.pause(
            after: item.attempts + 1, chance: chance, asked: answer.retryAfter)
        if let pause {
            queue.fail(item, until: now.adding(pause), &step)
            return nil
        }
        let lost = GivenUpDelivery(
            position: item.position, type: item.type, attempts: Int64(item.attempts + 1),
            status: Int64(answer.status))
        if order == .strict {
            queue.putBack(item)
            finish(.disabled(.givenUp, position: item.position))
        } else {
            queue.settle(item, &step)
            givenUp.append(
                Delivery(
                    position: item.position, lane: .zero, type: item.type,
                    attempts: item.attempts + 1, isReplay: item.isReplay, isGivenUp: true,
                    status: answer.status, nextAt: now))
        }
        return lost
    }

    private mutating func note(
        _ item: DeliveryQueue.Item, _ answer: WebhookAnswer, at now: Timestamp
    ) {
        attempts.append(
            DeliveryAttempt(
                position: item.position, type: item.type, at: now,
                milliseconds: Int(answer.took / .milliseconds(1)), status: answer.status,
                outcome: answer.outcome, isReplay: item.isReplay, answer: answer.text))
    }

    // MARK: - What is put on record

    /// What has changed since it was asked last; nil where nothing has.
    mutating func takeStep() -> DeliveryStore.Step? {
        var moved = progress
        moved.cursor = LogCursor(epoch: progress.cursor.epoch, position: queue.position)
        moved.done = queue.doneAbove
        moved.halted = if case .halted(let why) = end { why } else { nil }
        let isNews =
            moved != progress || !attempts.isEmpty || step != DeliveryQueue.Record()
        progress = moved
        guard isNews else { return nil }
        var written = DeliveryStore.Step(moved)
        written.settled = step.settled
        written.parked = step.parked.map { parked in
            Delivery(
                position: parked.position, lane: parked.lane, type: parked.type,
                attempts: parked.attempts, isReplay: parked.isReplay, nextAt: parked.due)
        }
        // The last word on a position counts.
        var newest: [Int64: Delivery] = [:]
        for one in written.parked + givenUp { newest[one.position] = one }
        for position in step.settled where newest[position]?.isGivenUp == false {
            newest[position] = nil
        }
        written.parked = newest.values.sorted { $0.position < $1.position }
        written.attempts = attempts
        (step, attempts, givenUp) = (DeliveryQueue.Record(), [], [])
        return written
    }
}

extension DeliveryQueue.Parked {
    init(_ delivery: Delivery) {
        self.init(
            position: delivery.position, lane: delivery.lane, type: delivery.type,
            attempts: delivery.attempts, isReplay: delivery.isReplay, due: delivery.nextAt)
    }
}

extension Timestamp {
    func adding(_ duration: Duration) -> Timestamp {
        adding(microseconds: Int64(duration / .microseconds(1)))
    }
}
