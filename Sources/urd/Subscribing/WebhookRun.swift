import API
import EventSourcing
import Identity
import ReadModels
import Synchronization
import Values

/// One subscription in the hands of this node: what it knows, and what the next step puts on record.
struct WebhookRun: Sendable {
    enum End: Sendable, Equatable {
        case disabled(Subscription.DisableReason, position: Int64?)
        /// The receiver at this address answered that it wants nothing more.
        case gone(from: String, position: Int64)
        /// Another node has it.
        case leaseLost
        /// The log is in another epoch: all that was read is void.
        case epochChanged
        case halted(String, position: Int64)
        /// An administrator changed it, from here in the log on: another runner begins, once what is under way
        /// has come to its end.
        case changed
        /// The log is known to have lost a tail, of which something may have been sent.
        case rewound(keptTo: Int64)
    }

    /// Attempts that may be on no record yet. Were it lost, as many would be made again.
    private static let mostUnrecorded = 256
    /// Where others are under way, so many are put on record at once, or those of so many microseconds: a step costs
    /// the database as much as some ten attempts.
    private static let stepSize = 128
    private static let stepTime: Int64 = 20_000
    /// Of a webhook in no order.
    static let mostAtOnce = 32
    private static let mostReady = 32
    static let unknownType = "this version of Urd does not know the type of the event"
    static let warningAfter: Int64 = 12 * 3600
    static let disabledAfter: Int64 = 5 * 86_400

    let subscription: Subscription
    private let id: UUID
    private let version: Int
    let selection: SubscriptionSelection
    /// Where the subscription was last told that the log went back.
    let toldOfRewind: Int64
    private var warnedSince: Timestamp?
    var disclosure: StandingDisclosure
    /// What waits, and was not yet looked at for personal data.
    private(set) var unlooked: Set<Int64>
    /// What waited when the run began, by other terms or because an administrator asked for it.
    private let inherited: Set<Int64>
    var queue: DeliveryQueue
    var progress: DeliveryProgress
    private(set) var step = DeliveryQueue.Record()
    private(set) var attempts: [DeliveryAttempt] = []
    private(set) var givenUp: [Delivery] = []
    private(set) var end: End?
    /// The first event that the receiver answered so to that it wants nothing more.
    private var goneAt: Int64?

    init(
        _ subscription: Subscription, id: UUID, _ progress: DeliveryProgress,
        waiting: [Delivery], version: Int = 0, toldOfRewind: Int64 = 0
    ) {
        self.subscription = subscription
        self.id = id
        self.version = version
        self.toldOfRewind = toldOfRewind
        selection = SubscriptionSelection(subscription)
        warnedSince = subscription.warnedSince
        disclosure = StandingDisclosure(of: id)
        inherited = Set(waiting.map(\.position))
        unlooked = subscription.terms.includesPersonal ? inherited : []
        self.progress = progress
        let most =
            switch subscription.terms.order {
            case .stream: 8
            case .strict: 1
            // A message with personal data is made no earlier than it is sent: its account may be erased.
            case .none: Self.mostAtOnce + (subscription.terms.includesPersonal ? 0 : Self.mostReady)
            }
        queue = DeliveryQueue(
            position: progress.cursor.position, done: progress.done,
            parked: waiting.map(DeliveryQueue.Parked.init), most: most)
    }

    var order: DeliveryOrder { Self.order(of: subscription) }

    static func order(of subscription: Subscription) -> DeliveryOrder {
        switch subscription.terms.order {
        case .stream: .stream
        case .strict: .strict
        case .none: .none
        }
    }

    mutating func finish(_ end: End) { self.end = self.end ?? end }

    /// How the run ended, once nothing of it is under way any more. A receiver that wants nothing more is heeded however it
    /// ended.
    var outcome: End? {
        goneAt.map { .gone(from: subscription.terms.url, position: $0) } ?? end
    }

    /// Whether no delivery is started any more, and deliveries under way may finish.
    var isWindingUp: Bool { end == .changed && !queue.isIdle }

    /// Whether the terms have yet to say that an event is sent at all.
    func isUnchecked(_ item: DeliveryQueue.Item) -> Bool { inherited.contains(item.position) }

    // MARK: - Steps

    /// The types of events that have to be read, where the subscription names those that it wants one by one.
    var types: [String]? {
        selection.names.map { Array($0.union(Self.changes).union([AcceptedLoss.eventName])) }
    }

    /// Events of the subscription itself after which its old terms no longer hold.
    private static let changes: Set<String> = [
        SubscriptionEvent.Form.changed.name, SubscriptionEvent.Form.paused.name,
        SubscriptionEvent.Form.resumed.name,
        SubscriptionEvent.Form.disabled.name, SubscriptionEvent.Form.secretRotated.name,
        SubscriptionEvent.Form.deleted.name,
    ]

    /// - Parameter isLeftOut: by what the index says.
    mutating func take(_ event: Recorded, isLeftOut: Bool = false, now: Timestamp) {
        if event.stream == id, event.version > version, Self.changes.contains(event.name) {
            return finish(.changed)
        }
        if event.name == AcceptedLoss.eventName, let loss = AcceptedLoss(event.open),
            min(loss.sealed, loss.head) >= toldOfRewind
        {
            return finish(.rewound(keptTo: min(loss.sealed, loss.head)))
        }
        guard let wants = selection.wants(event) else {
            return finish(
                .halted(Self.unknownType, position: event.position))
        }
        let isWanted = wants && !isLeftOut
        queue.take(
            event.position,
            lane: Delivery.lane(of: event.stream, at: event.position, in: order),
            type: event.name, isWanted: isWanted, now: now, &step)
        if isWanted { disclose(event) }
    }

    private mutating func disclose(_ event: Recorded) {
        guard subscription.terms.includesPersonal, event.personal == .sealed else { return }
        disclosure.add(
            StandingDisclosure.Opened(position: event.position, subject: event.subject))
    }

    /// What waits is looked at in pieces: the next one.
    var nextUnlooked: [Int64] {
        guard disclosure.hasRoom, !unlooked.isEmpty else { return [] }
        return Array(unlooked.sorted().prefix(StandingDisclosure.most))
    }

    mutating func look(at events: [Recorded], leftOut: Set<Int64>, of positions: [Int64]) {
        for event in events where !leftOut.contains(event.position) { disclose(event) }
        unlooked.subtract(positions)
    }

    func isResting(at now: Timestamp) -> Bool {
        progress.restsUntil.map { now < $0 } ?? false
    }

    /// After a failure to reach the receiver a single delivery tries whether it is there again.
    mutating func start(at now: Timestamp) -> [DeliveryQueue.Item] {
        guard end == nil, !isResting(at: now), attempts.count < Self.mostUnrecorded else {
            return []
        }
        // Without `self`, of which a copy would make a copy of the queue.
        let isHeldBack = { [disclosure, unlooked] (position: Int64) in
            disclosure.isWaiting(position) || unlooked.contains(position)
        }
        if progress.failures > 0 {
            return queue.isIdle
                ? queue.start(at: now, most: 1, isHeldBack: isHeldBack) : []
        }
        return queue.start(at: now, isHeldBack: isHeldBack)
    }

    /// Since when nothing was taken, where that is so long that the contact has to be told: once.
    mutating func takeWarning(at now: Timestamp) -> Timestamp? {
        guard queue.hasWork, let since = progress.blockedSince,
            since.adding(seconds: Self.warningAfter) <= now,
            warnedSince != Timestamp(seconds: since.seconds)
        else { return nil }
        warnedSince = Timestamp(seconds: since.seconds)
        return since
    }

    /// Where nothing was taken for days, it ends.
    mutating func endIfFailing(at now: Timestamp) {
        guard queue.hasWork, let since = progress.blockedSince,
            since.adding(seconds: Self.disabledAfter) <= now
        else { return }
        finish(.disabled(.failing, position: queue.position + 1))
    }

    /// The time at which the run has to be looked at without any event.
    func nextLook(at now: Timestamp) -> Timestamp? {
        var moments = [isResting(at: now) ? progress.restsUntil : queue.nextDue]
        if let since = progress.blockedSince, queue.hasWork {
            moments += [Self.warningAfter, Self.disabledAfter].map { since.adding(seconds: $0) }
                .filter { $0 > now }
        }
        moments.append(disclosure.due(at: now))
        if !isStepDue(at: now) { moments.append(stepDue) }
        // What is due already waits for an answer, which wakes as well.
        return moments.compactMap(\.self).filter { $0 > now }.min()
    }

    /// - Returns: a delivery that was given up, to be put on record.
    mutating func settle(
        _ item: DeliveryQueue.Item, _ answer: WebhookAnswer, at now: Timestamp,
        chance: @autoclosure () -> Double
    ) -> GivenUpDelivery? {
        guard answer.verdict != .notTried else {
            queue.putBack(item)
            return nil
        }
        if answer.verdict == .leftOut {
            queue.settle(item, &step)
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
        case .taken, .leftOut, .notTried: break
        case .gone:
            queue.putBack(item)
            goneAt = goneAt ?? item.position
            finish(.gone(from: subscription.terms.url, position: item.position))
        case .unreachable:
            queue.putBack(item)
            // Those that were under way together fail together, and count once.
            if !isResting(at: now) {
                progress.failures += 1
                let rest = RetrySchedule.rest(
                    after: progress.failures, chance: chance(), asked: answer.retryAfter)
                progress.restsUntil = now.adding(rest)
            }
        case .refused: lost = refuse(item, answer, at: now, chance())
        }
        endIfFailing(at: now)
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

    private var stepDue: Timestamp? { attempts.first?.at.adding(microseconds: Self.stepTime) }

    /// Whether what has changed is put on record now: no later than a moment after the first attempt, also where the clock
    /// went back.
    func isStepDue(at now: Timestamp) -> Bool {
        guard let first = attempts.first, let due = stepDue, end == nil, !queue.isIdle,
            step == DeliveryQueue.Record(), givenUp.isEmpty
        else { return true }
        return attempts.count >= Self.stepSize || now >= due || now < first.at
    }

    /// The changes since the last call; nil without changes.
    mutating func takeStep() -> DeliveryStore.Step? {
        var moved = progress
        moved.cursor = LogCursor(epoch: progress.cursor.epoch, position: queue.position)
        moved.done = queue.doneAbove
        moved.halted =
            if case .halted(let why, let position) = end {
                "position \(position): \(why)"
            } else {
                nil
            }
        let isNews =
            moved != progress || !attempts.isEmpty || step != DeliveryQueue.Record()
        progress = moved
        guard isNews else { return nil }
        var written = DeliveryStore.Step(moved)
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
        written.settled = step.settled.filter { newest[$0] == nil }
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
