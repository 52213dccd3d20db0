internal import EventSourcing
internal import Identity
import Synchronization
internal import Values

/// Failed authentications of clients on their way into the log, summed up, so that guessing secrets does not make
/// the log grow: of each client the first is recorded at once, and those of the ten minutes after it as one.
///
/// Nothing is written before the answer: a refusal takes as long where there is no client of that name.
final class RefusedClientCounters: Sendable {
    struct Key: Hashable, Sendable {
        let realm: RealmID
        let client: UUID
        let reason: String
        /// Of assertions that are no JWT.
        var kind: AppSignInMethod?
    }

    /// What is recorded next of a client: the last request that was refused, and how many there were.
    struct Sum: Sendable {
        var refused: RefusedSignIn
        var origin: Origin
    }

    private struct Entry: Sendable {
        /// Nil where nothing came since the last record.
        var sum: Sum?
        /// Nil before the first record.
        var recordedAt: Duration?
    }

    static let span = Duration.seconds(600)
    /// Clients of one realm whose refusals are summed at a time; those of more are not recorded. A client has
    /// to be registered to be one of them.
    static let mostPerRealm = 4096

    private let entries = Mutex<[RealmID: [Key: Entry]]>([:])
    let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() {
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ refused: RefusedSignIn, _ origin: Origin, to key: Key) {
        let isNew = entries.withLock { entries in
            let isKnown = entries[key.realm]?[key] != nil
            let count = entries[key.realm]?.count ?? 0
            guard isKnown || count < Self.mostPerRealm else { return false }
            Self.add(
                Sum(refused: refused, origin: origin), to: &entries[key.realm, default: [:]], key)
            return !isKnown
        }
        if isNew { arrival.yield() }
    }

    /// Wakes the writer of due records.
    func wake() { arrival.yield() }

    /// The counts that are to be recorded now. With `all` it is all that there is.
    func take(at now: Duration, all: Bool = false) -> [(key: Key, sum: Sum)] {
        entries.withLock { entries in
            var due: [(key: Key, sum: Sum)] = []
            for (realm, kept) in entries {
                for (key, entry) in kept {
                    let isOver = entry.recordedAt.map { now - $0 >= Self.span } ?? true
                    guard isOver || all else { continue }
                    guard let sum = entry.sum else {
                        entries[realm]?[key] = nil
                        continue
                    }
                    due.append((key, sum))
                    entries[realm]?[key] = Entry(sum: nil, recordedAt: now)
                }
                if entries[realm]?.isEmpty == true { entries[realm] = nil }
            }
            return due
        }
    }

    /// What could not be recorded: it is tried again, together with what came meanwhile.
    func giveBack(_ sum: Sum, to key: Key) {
        entries.withLock { entries in
            Self.add(sum, to: &entries[key.realm, default: [:]], key)
            entries[key.realm]?[key]?.recordedAt = nil
        }
    }

    private static func add(_ sum: Sum, to entries: inout [Key: Entry], _ key: Key) {
        var entry = entries[key] ?? Entry()
        var sum = sum
        sum.refused.count += entry.sum?.refused.count ?? 0
        entry.sum = sum
        entries[key] = entry
    }
}
