import API
import EventSourcing
import EventStore
import Identity
import JSON
import ReadModels
import Telemetry
import Values

/// Sends the mails and messages that the log asks for, and puts on record what became of each. A message, which costs
/// money, goes out at most once.
final class Mailer: Sendable {
    private let store: Store
    private let composer: MailComposer
    private let carrier: any MailCarrier
    private let carriesMessages: Bool
    private let outbox: Outbox
    private let record: DeliveryRecord

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
        carriesMessages = kind == .messages
        outbox = Outbox(
            kind, of: carriesMessages ? "messenger" : "mailer", line: "mail.not_made",
            field: "mail", store)
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
            try await outbox.run(every: Self.round, reading: { await self.read($0) }) {
                await self.deliver($0)
            }
        }
    }

    /// A mail that this node was asked for just now, if it is the one that leads.
    private func fresh(_ event: Recorded) -> Order? {
        guard outbox.isOurs, let mail = RequestedMail.id(by: event.name, event.open),
            carriesMessages == (event.open["channel"] != nil)
        else { return nil }
        let entry = DueWork.Entry(realm: event.realm, id: mail, position: event.position)
        return outbox.take(entry) ? Order(entry: entry, event: event, isLate: false) : nil
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
                        await outbox.attempt(entry) { throw LogFailure.damaged }
                    }
                }
            } catch {
                for entry in entries { await outbox.attempt(entry) { throw error } }
            }
        }
        return orders
    }

    private func deliver(_ order: Order) async {
        let (entry, event) = (order.entry, order.event)
        await outbox.attempt(entry) {
            let letter = try await composer.letter(for: event, isLate: order.isLate)
            guard let letter, letter.deadline.map({ store.now(in: entry.realm) < $0 }) ?? true
            else {
                let reason: MailFault = letter == nil ? .pointless : .tooLate
                await record.add(
                    delivery(of: entry, .refusedForGood(code: 0, reason), nil), entry.realm)
                return true
            }
            // Who sends in our place may have sent it.
            guard outbox.isOurs else { return false }
            if carriesMessages, try await !begins(entry) { return true }
            let outcome = await carrier.carry(letter, as: entry.id)
            await record.add(delivery(of: entry, outcome, letter.deadline), entry.realm)
            return true
        }
    }

    /// Whether a message may be handed over, which is on record then.
    private func begins(_ entry: DueWork.Entry) async throws -> Bool {
        try await store.dispatcher.ask(
            BeginMessage(mail: entry.id), in: entry.realm, id: store.newID(),
            origin: Origin(actor: "mailer", at: store.clock.now())
        ).outcome == .begun
    }

    private func delivery(
        of entry: DueWork.Entry, _ outcome: RecordDeliveries.Outcome, _ deadline: Timestamp?
    ) -> RecordDeliveries.Delivery {
        RecordDeliveries.Delivery(
            mail: entry.id, outcome: outcome, deadline: deadline, isFirst: entry.attempts == 0)
    }
}
