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

/// Sends the mails and messages that the log asks for, and puts on record what became of each. One node does so at
/// a time; when it goes, another takes its place. A mail may go out twice where a node dies between
/// the server's yes and the record of it, and never not at all; a message, which costs money, at most once.
final class Mailer: Sendable {
    private let store: Store
    private let composer: MailComposer
    private let carrier: any MailCarrier
    private let carriesMessages: Bool
    private let queue: DueWork
    private let leadership: Leadership
    private let record: DeliveryRecord
    private let taken = Mutex(InFlightWork(limit: 64))

    /// The read model sees a record after this time at the latest, or the mail counts as not sent.
    private static let patience = Duration.seconds(60)
    /// How often the read model is asked for what is due: of the mails that this node is asked for it
    /// hears at once.
    private static let round = Duration.milliseconds(100)

    /// - Parameter kind: mails, or the messages among them. A node without a mail server sends no mails, and
    ///   must not lead those that do.
    init(
        _ store: Store, composer: MailComposer, carrier: any MailCarrier, of kind: DueWork.Kind
    ) {
        self.store = store
        self.composer = composer
        self.carrier = carrier
        queue = DueWork(kind, store.database)
        carriesMessages = kind == .messages
        leadership = Leadership(of: kind == .messages ? "messenger" : "mailer", in: store.leases)
        record = DeliveryRecord(store, of: kind)
    }

    /// Runs until the task is cancelled. An outage of the database is waited out.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.record.write() }
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await event in self.store.log.news {
                        guard let order = self.fresh(event) else { continue }
                        group.addTask { await self.deliver(order) }
                    }
                }
            }
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                for order in await read(due()) {
                    group.addTask { await self.deliver(order) }
                }
                try await Task.sleep(for: Self.round)
            }
        }
    }

    /// A mail that this node was asked for just now, if it is the one that leads. What has no room is found
    /// due later.
    private func fresh(_ event: Recorded) -> Order? {
        guard leadership.isCertain,
            let mail = RequestedMail.id(by: event.name, event.open),
            carriesMessages == (event.open["channel"] != nil)
        else { return nil }
        let entry = DueWork.Entry(realm: event.realm, id: mail, position: event.position)
        return taken.withLock { $0.take([entry]) }.first.map {
            Order(entry: $0, event: event, isLate: false)
        }
    }

    /// Due mails that are not under way, as many as there is room for.
    private func due() async -> [DueWork.Entry] {
        let enough = taken.withLock { $0.enough(at: .now) }
        let due = try? await queue.due(at: store.latestTime, limit: enough) { [store] in
            $1 <= store.now(in: $0)
        }
        guard let due else { return [] }
        return taken.withLock { $0.take(due) }
    }

    /// A mail under way, and the event that asks for it.
    private struct Order: Sendable {
        let entry: DueWork.Entry
        let event: Recorded
        /// Whether an attempt failed before, or the mail waited.
        let isLate: Bool
    }

    /// Reads the mails of all entries in one query.
    private func read(_ entries: [DueWork.Entry]) async -> [Order] {
        var orders: [Order] = []
        for (realm, entries) in Dictionary(grouping: entries, by: \.realm) {
            do {
                let events = try await store.log.events(at: entries.map(\.position), in: realm)
                let found = Dictionary(
                    events.map { ($0.position, $0) }, uniquingKeysWith: { first, _ in first })
                for entry in entries {
                    if let event = found[entry.position] {
                        orders.append(Order(entry: entry, event: event, isLate: true))
                    } else {
                        giveUp(entry, LogFailure.damaged)
                    }
                }
            } catch {
                for entry in entries { giveUp(entry, error) }
            }
        }
        return orders
    }

    private func deliver(_ order: Order) async {
        let (entry, event) = (order.entry, order.event)
        do {
            let letter = try await composer.letter(for: event, isLate: order.isLate)
            guard let letter, letter.deadline.map({ store.now(in: entry.realm) < $0 }) ?? true
            else {
                let reason: MailFault = letter == nil ? .pointless : .tooLate
                await record.add(
                    delivery(of: entry, .refusedForGood(code: 0, reason), nil), entry.realm)
                return settle(entry, for: Self.patience)
            }
            // Who sends in our place may have sent it.
            guard leadership.isCertain else { return settle(entry, for: .zero) }
            if carriesMessages, try await !begins(entry) {
                return settle(entry, for: Self.patience)
            }
            let outcome = await carrier.carry(letter, as: entry.id)
            await record.add(delivery(of: entry, outcome, letter.deadline), entry.realm)
            settle(entry, for: Self.patience)
        } catch {
            giveUp(entry, error)
        }
    }

    /// Whether a message may be handed over, which is on record then.
    private func begins(_ entry: DueWork.Entry) async throws -> Bool {
        let now = store.clock.now()
        var random = SystemRandomNumberGenerator()
        return try await store.dispatcher.ask(
            BeginMessage(mail: entry.id), in: entry.realm, id: .v7(at: now, using: &random),
            origin: Origin(actor: "mailer", at: now)
        ).outcome == .begun
    }

    private func delivery(
        of entry: DueWork.Entry, _ outcome: RecordDeliveries.Outcome, _ deadline: Timestamp?
    ) -> RecordDeliveries.Delivery {
        RecordDeliveries.Delivery(
            mail: entry.id, outcome: outcome, deadline: deadline, isFirst: entry.attempts == 0)
    }

    /// An outage is soon over; what cannot be read is no better in a second.
    private func giveUp(_ entry: DueWork.Entry, _ error: any Error) {
        let isLasting = (error as? LogFailure)?.isLasting ?? false
        settle(entry, for: isLasting ? Self.patience : .seconds(1))
        store.lines.warning(
            "mail.not_made",
            ["mail": .string(entry.id.description), "why": .string("\(error)")])
    }

    private func settle(_ entry: DueWork.Entry, for rest: Duration) {
        taken.withLock { $0.settle(entry, until: .now + rest) }
    }
}
