import EventSourcing
import EventStore
import JSON
import Synchronization
import Values

/// A log of events that say nothing, which can be set back, have holes, and count how often it is read.
final class TalliedLog: EventLog {
    private struct State {
        var head = Head(epoch: 1, position: 0)
        var starts: [EpochHistory.Start] = []
        var names: [Int64: String] = [:]
        var reads = 0
        var failure: LogFailure?
    }

    let hub = CommitHub()
    let realm: RealmID
    private let state = Mutex(State())

    init(_ realm: RealmID) {
        self.realm = realm
    }

    var reads: Int { state.withLock { $0.reads } }

    func add(_ names: String...) { add(names) }

    func add(_ names: [String]) {
        let head = state.withLock { state in
            var position = state.head.position
            for name in names {
                position += 1
                state.names[position] = name
            }
            state.head = Head(epoch: state.head.epoch, position: position)
            return state.head
        }
        hub.publish(head, of: realm)
    }

    /// Another epoch, in which the log is what it was up to a position.
    func begin(_ epoch: Int, after position: Int64) {
        let head = state.withLock { state in
            state.starts.append(EpochHistory.Start(epoch: epoch, after: position))
            state.names = state.names.filter { $0.key <= position }
            state.head = Head(epoch: epoch, position: position)
            return state.head
        }
        hub.publish(head, of: realm)
    }

    func remove(_ position: Int64) { state.withLock { $0.names[position] = nil } }

    func fail(with failure: LogFailure?) { state.withLock { $0.failure = failure } }

    private func check() throws(LogFailure) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome { throw .refused }

    func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? { nil }

    func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] { [] }

    func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await page(from: position, limit: limit, in: realm).events
    }

    func head(of realm: RealmID) async throws(LogFailure) -> Head {
        try check()
        return state.withLock { $0.head }
    }

    func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        try check()
        return state.withLock { state in
            state.reads += 1
            let names = state.names.filter { $0.key >= position }.sorted { $0.key < $1.key }
            return LogPage(
                epochs: EpochHistory(head: state.head, starts: state.starts),
                events: names.prefix(limit).map { Self.event($0.value, at: $0.key, in: realm) })
        }
    }

    func latestTime(in realm: RealmID) -> Timestamp? { nil }

    static func event(_ name: String, at position: Int64, in realm: RealmID) -> Recorded {
        var leaf = [UInt8](repeating: 0, count: LeafHash.length)
        for index in 0..<8 { leaf[index] = UInt8(truncatingIfNeeded: position >> (8 * index)) }
        guard let leaf = LeafHash(leaf) else { preconditionFailure("It has its length.") }
        return Recorded(
            realm: realm, position: position, stream: UUID(high: 7, low: UInt64(position)),
            version: 1, name: name, revision: 1, at: Timestamp(microseconds: position),
            command: .zero, subject: nil, actor: "system", client: nil, correlation: nil,
            leaf: leaf, open: ["name": .string(name)], personal: .none)
    }
}
