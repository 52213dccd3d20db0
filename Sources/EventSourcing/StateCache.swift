import JSON
import Synchronization
import Values

extension StreamState {
    /// Nil where an event is not of this kind of stream.
    fileprivate func applying(_ events: [NewEvent]) -> Self? {
        var state = self
        for new in events {
            if let event = new.event as? Event {
                state.apply(event)
                continue
            }
            let fields = new.open.merging(new.personal) { open, _ in open }
            guard let event = Event(name: new.name, fields: fields) else { return nil }
            state.apply(event)
        }
        return state
    }
}

/// Cache of this node's folded streams. A stale entry costs its command one retry and never a wrong
/// decision: every read is asserted at append.
final class StateCache: Sendable {
    private struct Key: Hashable {
        let realm: RealmID
        let stream: UUID

        /// The stream alone: hardly any two realms have one in common.
        func hash(into hasher: inout Hasher) { hasher.combine(stream) }
    }

    /// A state at a version, of any type.
    struct Entry {
        let version: Int
        let epoch: Int
        let state: any StreamState
        /// The latest time of its events; nil where there are none.
        let latest: Timestamp?
    }

    private let entries: Mutex<RecencyCache<Key, Entry>>
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        entries = Mutex(RecencyCache(capacity: capacity))
    }

    /// What was folded in another epoch is as good as not there: a failover or a restore may have
    /// taken away what it was folded from. Not generic, for it is asked for every stream that is read.
    func find(_ stream: UUID, in realm: RealmID, epoch: Int) -> Entry? {
        let key = Key(realm: realm, stream: stream)
        let entry = entries.withLock { $0.find(key) }
        return entry?.epoch == epoch ? entry : nil
    }

    func store<State: StreamState>(
        _ versioned: Versioned<State>, latest: Timestamp?, in realm: RealmID, epoch: Int
    ) {
        // Of a realm whose epoch is not known yet nothing is kept.
        guard epoch > 0 else { return }
        let key = Key(realm: realm, stream: versioned.stream)
        let entry = Entry(
            version: versioned.version, epoch: epoch, state: versioned.state, latest: latest)
        entries.withLock { $0.store(entry, for: key) }
    }

    /// Events were appended to streams at the versions that were read: the states move with them,
    /// so that the next reader need not ask the log.
    func move(
        by events: [NewEvent], at time: Timestamp, from reads: [UUID: Int], in realm: RealmID,
        epoch: Int
    ) {
        var written: [UUID: [NewEvent]] = [:]
        for event in events { written[event.stream, default: []].append(event) }
        entries.withLock { entries in
            for (stream, events) in written {
                let key = Key(realm: realm, stream: stream)
                guard let entry = entries.find(key) else { continue }
                guard entry.epoch == epoch, entry.version == reads[stream],
                    let moved = entry.state.applying(events)
                else {
                    // A state that has moved further by now is worth no less.
                    if entry.version <= reads[stream, default: 0] { entries.remove(key) }
                    continue
                }
                let latest = entry.latest.map { max($0, time) } ?? time
                entries.store(
                    Entry(
                        version: entry.version + events.count, epoch: epoch, state: moved,
                        latest: latest), for: key)
            }
        }
    }

    func clear() {
        entries.withLock { $0 = RecencyCache(capacity: capacity) }
    }

    func forget(_ streams: some Sequence<UUID>, in realm: RealmID) {
        entries.withLock {
            for stream in streams { $0.remove(Key(realm: realm, stream: stream)) }
        }
    }
}
