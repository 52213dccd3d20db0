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

/// Sends the mails that the log asks for, and puts on record what became of each. One node does so at
/// a time; when it goes, another takes its place. A mail may go out twice where a node dies between
/// the server's yes and the record of it, and never not at all.
final class Mailer: Sendable {
    private let store: Store
    private let composer: MailComposer
    private let carrier: any MailCarrier
    private let queue: DueMails
    private let leadership: Leadership
    private let record: DeliveryRecord
    private let taken = Mutex(Taken())
    /// How far the log of each realm was looked through for mails.
    private let looked = Mutex<[RealmID: Int64]>([:])

    /// Mails under way, and those whose record the read model has not seen yet.
    private struct Taken {
        var underWay: Set<DueMails.Entry> = []
        var settled: [DueMails.Entry: ContinuousClock.Instant] = [:]

        /// Those that are free to be taken, as many as there is room for.
        mutating func take(_ entries: [DueMails.Entry]) -> [DueMails.Entry] {
            var fresh: [DueMails.Entry] = []
            for entry in entries where underWay.count < Mailer.limit && settled[entry] == nil {
                if underWay.insert(entry).inserted { fresh.append(entry) }
            }
            return fresh
        }
    }

    /// As many are under way at once.
    private static let limit = 64
    /// The read model sees a record after this time at the latest, or the mail counts as not sent.
    private static let patience = Duration.seconds(60)
    /// How often the read model is asked for what is due: mails that the log asked for just now are
    /// found by following it.
    private static let round = Duration.milliseconds(100)

    init(_ store: Store, composer: MailComposer, carrier: any MailCarrier) {
        self.store = store
        self.composer = composer
        self.carrier = carrier
        queue = DueMails(store.database)
        leadership = Leadership(of: "mailer", at: store.database.address)
        record = DeliveryRecord(store)
    }

    /// Runs until it is cancelled. An outage of the database is waited out.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.record.write() }
            group.addTask {
                await withDiscardingTaskGroup { group in
                    await self.store.log.hub.watch { heads in
                        for order in await self.read(self.ordered(upTo: heads)) {
                            group.addTask { await self.deliver(order) }
                        }
                    }
                }
            }
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    looked.withLock { $0 = [:] }
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                lead()
                for order in await read(due()) {
                    group.addTask { await self.deliver(order) }
                }
                try await Task.sleep(for: Self.round)
            }
        }
    }

    /// From here on the log is followed. What it asked for before is due already.
    private func lead() {
        let hub = store.log.hub
        looked.withLock { looked in
            for realm in hub.realms where looked[realm] == nil {
                looked[realm] = hub.head(of: realm)
            }
        }
    }

    /// New mails, on the node that leads. What is not found here, or has no room, is found due later.
    private func ordered(upTo heads: [RealmID: Int64]) async -> [DueMails.Entry] {
        let stretches = looked.withLock { looked in
            var stretches: [(realm: RealmID, after: Int64, last: Int64)] = []
            for (realm, head) in heads {
                guard let after = looked[realm], after < head else { continue }
                stretches.append((realm, after, head))
                looked[realm] = head
            }
            return stretches
        }
        var found: [DueMails.Entry] = []
        for (realm, after, last) in stretches {
            found +=
                (try? await queue.ordered(behind: after, upTo: last, in: realm)) ?? []
        }
        return taken.withLock { $0.take(found) }
    }

    /// Due mails that are not under way, as many as there is room for.
    private func due() async -> [DueMails.Entry] {
        let now = ContinuousClock.now
        let known = taken.withLock { taken in
            taken.settled = taken.settled.filter { $0.value > now }
            return taken.settled.count + taken.underWay.count
        }
        guard
            let due = try? await queue.due(at: Log.systemTime(), limit: known + Self.limit)
        else { return [] }
        return taken.withLock { $0.take(due) }
    }

    /// A mail under way, and the event that asks for it.
    private struct Order: Sendable {
        let entry: DueMails.Entry
        let event: Recorded
    }

    /// All that are taken together are read together.
    private func read(_ entries: [DueMails.Entry]) async -> [Order] {
        var orders: [Order] = []
        for (realm, entries) in Dictionary(grouping: entries, by: \.realm) {
            do {
                let events = try await store.log.events(at: entries.map(\.position), in: realm)
                let found = Dictionary(
                    events.map { ($0.position, $0) }, uniquingKeysWith: { first, _ in first })
                for entry in entries {
                    if let event = found[entry.position] {
                        orders.append(Order(entry: entry, event: event))
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
            let letter = try await composer.letter(for: event)
            guard let letter, letter.deadline.map({ Log.systemTime() < $0 }) ?? true else {
                await record.add(delivery(of: entry, .refusedForGood(code: 0), nil), entry.realm)
                return settle(entry, for: Self.patience)
            }
            let outcome = await carrier.carry(letter, as: entry.mail)
            await record.add(delivery(of: entry, outcome, letter.deadline), entry.realm)
            settle(entry, for: Self.patience)
        } catch {
            giveUp(entry, error)
        }
    }

    private func delivery(
        of entry: DueMails.Entry, _ outcome: RecordDeliveries.Outcome, _ deadline: Timestamp?
    ) -> RecordDeliveries.Delivery {
        RecordDeliveries.Delivery(
            mail: entry.mail, outcome: outcome, deadline: deadline, isFirst: entry.attempts == 0)
    }

    /// An outage is soon over; what cannot be read is no better in a second.
    private func giveUp(_ entry: DueMails.Entry, _ error: LogFailure) {
        settle(entry, for: error == .damaged ? Self.patience : .seconds(1))
        store.lines.warning(
            "mail.not_made",
            ["mail": .string(entry.mail.description), "why": .string("\(error)")])
    }

    private func settle(_ entry: DueMails.Entry, for rest: Duration) {
        let until = ContinuousClock.now + rest
        taken.withLock {
            $0.underWay.remove(entry)
            $0.settled[entry] = until
        }
    }
}
