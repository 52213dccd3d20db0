import EventSourcing
import JSON
import Synchronization
import Values

/// Streams as they were read last, and when it was last certain that they had not moved on since.
///
/// Two things make that certain. The database refuses an append where a stream that it relies on has moved on, or
/// where the key that it seals under is gone: one that won has shown of every stream that it relied on, and of the
/// person that it is about, that all is as it was read. And a look at the log that tells which streams it went on
/// with, and that no key was destroyed, has shown it of all others. Who asks for such a stream afterwards need not
/// ask the database. Personal fields are kept as they are in the log, sealed, without the key that opens them.
public final class StreamProofs: Sendable {
    private struct Key: Hashable {
        let realm: RealmID
        let stream: UUID

        /// The stream alone: hardly any two realms have one in common.
        func hash(into hasher: inout Hasher) { hasher.combine(stream) }
    }

    /// An event, and its personal fields as the log has them, where it has some.
    typealias Kept = (event: Recorded, sealed: [UInt8]?)

    struct Known: Sendable {
        fileprivate let rows: [Kept]
        fileprivate let epoch: Int
        fileprivate var moment: ContinuousClock.Instant
        /// The chain of looks that tell if the stream moves on; nil where one of them may have told it already.
        fileprivate let chain: Int?

        var version: Int { rows.count }

        /// Whose keys open it.
        fileprivate var subjects: [UUID] {
            rows.compactMap { $0.sealed == nil ? nil : $0.event.subject }
        }

        /// The events; nil where one does not open.
        func opened(_ key: (UUID) -> SubjectKey?) -> [Recorded]? {
            var events: [Recorded] = []
            events.reserveCapacity(rows.count)
            for (event, sealed) in rows {
                guard let sealed else {
                    events.append(event)
                    continue
                }
                let seal = EventSeal(
                    realm: event.realm, stream: event.stream, version: event.version,
                    type: event.name)
                guard let subject = event.subject, let key = key(subject),
                    let bytes = try? seal.open(sealed, under: key.sealing),
                    let fields = (try? JSON.parse(bytes))?.object
                else { return nil }
                events.append(event.with(.opened(fields)))
            }
            return events
        }
    }

    private struct State {
        var streams = RecencyCache<Key, Known>(capacity: capacity)
        var looks: [RealmID: LooksAtLog] = [:]
        var chains = 0
    }

    /// So many streams, and none with more events.
    private static let (capacity, longest) = (4096, 64)

    private let state = Mutex(State())

    public init() {}

    /// The stream as of the moment or later; nil where that is unknown without a query.
    func find(
        _ stream: UUID, in realm: RealmID, epoch: Int, since moment: ContinuousClock.Instant
    ) -> Known? {
        state.withLock { state in
            guard let known = state.streams.find(Key(realm: realm, stream: stream)),
                known.epoch == epoch
            else { return nil }
            if known.moment >= moment { return known }
            guard let looks = state.looks[realm], looks.chain == known.chain,
                looks.moment >= moment
            else { return nil }
            return known
        }
    }

    /// Keeps a stream that was read from its first event on.
    func keep(_ page: EventPage, _ events: [Recorded], at moment: ContinuousClock.Instant) {
        guard let epoch = page.epoch,
            zip(page.rows, events).allSatisfy({ $0.sealed == nil || !$1.personal.isGone })
        else { return }
        let rows = zip(page.rows, events).map { row, event in
            (row.sealed == nil ? event : event.with(.sealed), row.sealed)
        }
        keep(rows, epoch, at: moment)
    }

    func keep(_ rows: [Kept], _ epoch: Int, at moment: ContinuousClock.Instant) {
        guard let first = rows.first?.event, rows.count <= Self.longest else { return }
        state.withLock { state in
            let looks = state.looks[first.realm]
            let isWatched =
                looks?.wouldTell(of: first.stream, readAt: moment) ?? false
            state.streams.store(
                Known(
                    rows: rows, epoch: epoch, moment: moment, chain: isWatched ? looks?.chain : nil),
                for: Key(realm: first.realm, stream: first.stream))
        }
    }

    /// An append won that was sent after the moment.
    func note(_ commit: EncodedCommit, at moment: ContinuousClock.Instant) {
        state.withLock { state in
            for read in commit.reads {
                let key = Key(realm: commit.realm, stream: read.stream)
                guard var known = state.streams.find(key) else { continue }
                guard read.events == 0 else {
                    state.streams.remove(key)
                    continue
                }
                guard known.version == Int(read.version), known.moment < moment,
                    known.subjects.allSatisfy(commit.hasSealed)
                else { continue }
                known.moment = moment
                state.streams.store(known, for: key)
            }
        }
    }

    /// The log was looked at.
    public func note(_ moves: LogMoves, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            if var looks = state.looks[moves.realm], let streams = moves.streams,
                looks.go(on: moves, at: now)
            {
                for stream in streams {
                    state.streams.remove(Key(realm: moves.realm, stream: stream))
                }
                state.looks[moves.realm] = looks
            } else {
                state.chains += 1
                state.looks[moves.realm] = LooksAtLog(state.chains, moves, at: now)
            }
        }
    }
}

/// Looks at the log of one realm, each of which told what had happened since the one before.
private struct LooksAtLog {
    /// Number of the chain: tells these looks apart from earlier ones, which did not go on.
    let chain: Int
    private let epoch: Int32
    private let erasures: Int64
    private var position: Int64
    /// The time of the last request.
    private(set) var moment: ContinuousClock.Instant
    /// The last looks, the oldest first: the time of each answer, and its streams.
    private var told: [(at: ContinuousClock.Instant, streams: [UUID])]

    /// So many looks are kept. One that told of more streams is not: a stream that was read before it is asked for
    /// again.
    private static let (most, longest) = (32, 64)

    init(_ chain: Int, _ first: LogMoves, at now: ContinuousClock.Instant) {
        self.chain = chain
        (epoch, erasures, position) = (first.epoch, first.erasures, first.position)
        (moment, told) = (first.moment, [(now, [])])
    }

    /// False where it begins behind where the last one ended, or where a key may be gone.
    mutating func go(on moves: LogMoves, at now: ContinuousClock.Instant) -> Bool {
        guard moves.epoch == epoch, moves.erasures == erasures, moves.start <= position
        else { return false }
        position = moves.position
        moment = max(moment, moves.moment)
        let streams = moves.streams ?? []
        guard streams.count <= Self.longest else {
            told = [(now, [])]
            return true
        }
        told.append((now, streams))
        if told.count > Self.most { told.removeFirst() }
        return true
    }

    /// Whether the looks to come will tell of every event that the stream gets after it was read. The question for it
    /// was asked at the moment: a look that was answered later than that may be of a later state of the log.
    func wouldTell(of stream: UUID, readAt moment: ContinuousClock.Instant) -> Bool {
        for look in told.reversed() {
            guard look.at >= moment else { return true }
            if look.streams.contains(stream) { return false }
        }
        return false
    }
}

extension EncodedCommit {
    /// Whether something of it is sealed under the key of a subject, which the database had then.
    fileprivate func hasSealed(for subject: UUID) -> Bool {
        events.contains { $0.key != nil && $0.subject == subject }
    }
}
