import EventSourcing
import EventStore
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// Sends what a read model holds to be due, some of it at once, on one node at a time; when that node goes, another takes
/// its place. An entry may be sent twice where a node dies between the receiver's answer and the record of it, and
/// never not at all.
final class Outbox: Sendable {
    /// The read model sees the record of an entry after this time at the latest, or the entry is tried again.
    private static let patience = Duration.seconds(60)
    /// How late what is due by the clock alone may be: what is to be tried again, or waited for its hour.
    private static let longestRest = Duration.seconds(5)

    private let store: Store
    private let queue: DueWork
    private let leadership: Leadership
    private let inHand = Mutex(InFlightWork(limit: 64))
    private let line: StaticString
    private let field: String

    /// - Parameters:
    ///   - name: what the node that sends leads in.
    ///   - line: the log line about an entry that could not be sent.
    ///   - field: the field of that line which names the entry.
    init(_ kind: DueWork.Kind, of name: String, line: StaticString, field: String, _ store: Store) {
        self.store = store
        self.line = line
        self.field = field
        queue = DueWork(kind, store.database)
        leadership = Leadership(of: name, in: store.leases)
    }

    /// Whether this node still sends, to be looked at before what shall not happen twice.
    var isOurs: Bool { leadership.isCertain }

    /// Delivers entries one by one until the task is cancelled.
    /// - Parameters:
    ///   - first: what the node that leads does at the beginning of each round.
    ///   - deliver: returns whether there is nothing more to do for the entry.
    func run(
        first: @escaping @Sendable () async -> Void = {},
        _ deliver: @escaping @Sendable (DueWork.Entry) async throws -> Bool
    ) async throws {
        try await run(
            every: .milliseconds(200), first: first, reading: { $0 },
            { entry in
                await self.attempt(entry) { self.isOurs ? try await deliver(entry) : false }
            })
    }

    /// Delivers what is read of all due entries until the task is cancelled. An outage of the database is waited out.
    /// - Parameter deliver: attempts the entry.
    func run<Work: Sendable>(
        every pause: Duration, first: @escaping @Sendable () async -> Void = {},
        reading: @escaping @Sendable ([DueWork.Entry]) async -> [Work],
        _ deliver: @escaping @Sendable (Work) async -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                try Task.checkCancellation()
                guard await leadership.isHeld() else {
                    try await Task.sleep(for: .seconds(1))
                    continue
                }
                await first()
                for work in await reading(await due()) {
                    group.addTask { await deliver(work) }
                }
                try await store.log.hub.rest(pause, longest: Self.longestRest)
            }
        }
    }

    /// Due entries that are not in hand, as many as there is room for.
    private func due() async -> [DueWork.Entry] {
        let enough = inHand.withLock { $0.enough(at: .now) }
        let due = try? await queue.due(at: store.latestTime, limit: enough) { [store] in
            $1 <= store.now(in: $0)
        }
        guard let due else { return [] }
        return inHand.withLock { $0.take(due) }
    }

    /// Takes an entry in hand that the read model does not have yet. False where there is no room: it is found due later.
    func take(_ entry: DueWork.Entry) -> Bool {
        inHand.withLock { !$0.take([entry]).isEmpty }
    }

    /// Delivers an entry in hand, and leaves it alone for a while then.
    /// - Parameter deliver: returns whether there is nothing more to do for the entry.
    func attempt(
        _ entry: DueWork.Entry, _ deliver: @Sendable () async throws -> Bool
    ) async {
        let rest: Duration
        do {
            rest = try await deliver() ? Self.patience : .zero
        } catch {
            rest = Store.rest(after: error)
            store.lines.warning(
                line, [field: .string(entry.id.description), "why": .string("\(error)")])
        }
        inHand.withLock { $0.settle(entry, until: .now + rest) }
    }
}
