import EventSourcing
import JSON
import Synchronization
import Values

/// Streams as they were read last, and when it was last certain that they had not moved on since.
///
/// The database refuses an append where a stream that it relies on has moved on, or where the key that it seals
/// under is gone. So one that won has shown of every stream that it relied on, and of the person that it is about,
/// that all is as it was read: who asks for it afterwards need not ask the database. Personal fields are kept as
/// they are in the log, sealed, without the key that opens them.
final class StreamProofs: Sendable {
    private struct Key: Hashable {
        let realm: RealmID
        let stream: UUID

        /// The stream alone: hardly any two realms have one in common.
        func hash(into hasher: inout Hasher) { hasher.combine(stream) }
    }

    struct Known: Sendable {
        fileprivate let rows: [(event: Recorded, sealed: [UInt8]?)]
        fileprivate let epoch: Int
        fileprivate var moment: ContinuousClock.Instant

        fileprivate var version: Int { rows.count }

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

    /// So many streams, and none with more events.
    private static let (capacity, longest) = (4096, 64)

    private let streams = Mutex(RecencyCache<Key, Known>(capacity: capacity))

    /// As it was at the moment or later; nil where that is not known without a question.
    func find(
        _ stream: UUID, in realm: RealmID, epoch: Int, since moment: ContinuousClock.Instant
    ) -> Known? {
        let known = streams.withLock { $0.find(Key(realm: realm, stream: stream)) }
        guard let known, known.epoch == epoch, known.moment >= moment else { return nil }
        return known
    }

    /// Keeps a stream that was read from its first event on.
    func keep(_ page: EventPage, _ events: [Recorded], at moment: ContinuousClock.Instant) {
        guard let stream = events.first?.stream, let epoch = page.epoch,
            events.count <= Self.longest,
            zip(page.rows, events).allSatisfy({ $0.sealed == nil || !$1.personal.isGone })
        else { return }
        let known = Known(
            rows: zip(page.rows, events).map { row, event in
                (row.sealed == nil ? event : event.with(.sealed), row.sealed)
            }, epoch: epoch, moment: moment)
        streams.withLock { $0.store(known, for: Key(realm: page.realm, stream: stream)) }
    }

    /// An append won that was sent after the moment.
    func note(_ commit: EncodedCommit, at moment: ContinuousClock.Instant) {
        streams.withLock { streams in
            for read in commit.reads {
                let key = Key(realm: commit.realm, stream: read.stream)
                guard var known = streams.find(key) else { continue }
                guard read.events == 0 else {
                    streams.remove(key)
                    continue
                }
                guard known.version == Int(read.version), known.moment < moment,
                    known.subjects.allSatisfy(commit.hasSealed)
                else { continue }
                known.moment = moment
                streams.store(known, for: key)
            }
        }
    }
}

extension EncodedCommit {
    /// Whether something of it is sealed under the key of a subject, which the database had then.
    fileprivate func hasSealed(for subject: UUID) -> Bool {
        events.contains { $0.key != nil && $0.subject == subject }
    }
}
