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

    /// Two generations stand in for a least-recently-used list: a full young one becomes the old
    /// one, and what is still wanted moves back when it is read.
    private struct Generations {
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
    }

    private let generations = Mutex(Generations())
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(2, capacity)
    }

    /// What was folded in another epoch is as good as not there: a failover or a restore may have
    /// taken away what it was folded from. Not generic, for it is asked for every stream that is read.
    func find(_ stream: UUID, in realm: RealmID, epoch: Int) -> Entry? {
        let key = Key(realm: realm, stream: stream)
        let entry: Entry? = generations.withLock {
            if let entry = $0.young[key] { return entry }
            guard let entry = $0.old.removeValue(forKey: key) else { return nil }
            $0.young[key] = entry
            return entry
        }
        return entry?.epoch == epoch ? entry : nil
    }

    func store<State: StreamState>(
        _ versioned: Versioned<State>, latest: Timestamp?, in realm: RealmID, epoch: Int
    ) {
        // Of a realm whose epoch is not known yet nothing is kept.
        guard epoch > 0 else { return }
        let key = Key(realm: realm, stream: versioned.stream)
        generations.withLock {
            $0.young[key] = Entry(
                version: versioned.version, epoch: epoch, state: versioned.state, latest: latest)
            if $0.young.count > capacity / 2 {
                $0.old = $0.young
                $0.young = [:]
            }
        }
    }

    /// Events were appended to streams at the versions that were read: the states move with them,
    /// so that the next reader need not ask the log.
    func move(
        by events: [NewEvent], at time: Timestamp, from reads: [UUID: Int], in realm: RealmID,
        epoch: Int
    ) {
        var written: [UUID: [NewEvent]] = [:]
        for event in events { written[event.stream, default: []].append(event) }
        generations.withLock { generations in
            for (stream, events) in written {
                let key = Key(realm: realm, stream: stream)
                let entry = generations.young[key] ?? generations.old[key]
                generations.old[key] = nil
                guard let entry, entry.epoch == epoch, entry.version == reads[stream],
                    let moved = entry.state.applying(events)
                else {
                    // A state that has moved further by now is worth no less.
                    if let entry, entry.version > reads[stream, default: 0] {
                        generations.young[key] = entry
                    } else {
                        generations.young[key] = nil
                    }
                    continue
                }
                generations.young[key] = Entry(
                    version: entry.version + events.count, epoch: epoch, state: moved,
                    latest: entry.latest.map { max($0, time) } ?? time)
            }
        }
    }

    func clear() {
        generations.withLock { $0 = Generations() }
    }

    func forget(_ streams: some Sequence<UUID>, in realm: RealmID) {
        generations.withLock {
            for stream in streams {
                let key = Key(realm: realm, stream: stream)
                $0.young[key] = nil
                $0.old[key] = nil
            }
        }
    }
}
