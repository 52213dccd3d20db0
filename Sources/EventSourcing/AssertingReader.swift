import Synchronization
import Values

/// The reader of one attempt: remembers every stream and version that it handed out.
final class AssertingReader<Log: EventLog>: StreamReader {
    private let log: Log
    private let cache: StateCache
    private let realm: RealmID
    /// What this attempt believes in.
    private let epoch: Int
    /// False once an attempt lost: maybe to what was taken to be new.
    private let trustsNames: Bool
    private let seen = Mutex(Seen())
    private let foreign = Mutex<Set<UUID>>([])

    private struct Seen {
        var reads: [UUID: Int] = Dictionary(minimumCapacity: 6)
        var cached = false
        var latest: Timestamp?
    }

    init(log: Log, cache: StateCache, realm: RealmID, epoch: Int, trustsNames: Bool = false) {
        self.trustsNames = trustsNames
        self.log = log
        self.cache = cache
        self.realm = realm
        self.epoch = epoch
    }

    var reads: [UUID: Int] { seen.withLock { $0.reads } }

    /// The latest time of all events that were read; nil where there were none.
    var latest: Timestamp? { seen.withLock { $0.latest } }

    /// Streams of another kind than was asked for: there is something else under these names.
    var ofAnotherKind: Set<UUID> { foreign.withLock { $0 } }

    func read<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State> {
        if let known = cache.find(stream, in: realm, epoch: epoch),
            let state = known.state as? State
        {
            note(stream, known.version, known.latest, cached: true)
            return Versioned(stream: stream, version: known.version, state: state)
        }
        var state = State()
        var version = 0
        let events = try await log.stream(stream, after: 0, in: realm)
        let latest = events.lazy.map(\.at).max()
        if let first = events.first, let last = events.last,
            !State.Event.catalogue.contains(where: { $0.name == first.name })
        {
            // The caller gave this name: there is no stream of this kind under it.
            foreign.withLock { _ = $0.insert(stream) }
            note(stream, last.version, latest, cached: false)
            return Versioned(stream: stream, version: 0, state: state)
        }
        for recorded in events {
            guard let event = State.Event(recorded) else { throw .damaged }
            state.apply(event)
            version = recorded.version
        }
        let fresh = Versioned(stream: stream, version: version, state: state)
        cache.store(fresh, latest: latest, in: realm, epoch: epoch)
        note(stream, version, latest, cached: false)
        return fresh
    }

    func readNew<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State> {
        guard trustsNames, cache.find(stream, in: realm, epoch: epoch) == nil else {
            return try await read(type, stream)
        }
        let new = Versioned(stream: stream, version: 0, state: State())
        // What is appended moves it on, so that the first use of it needs no reading either.
        cache.store(new, latest: nil, in: realm, epoch: epoch)
        note(stream, 0, nil, cached: true)
        return new
    }

    /// A stream that moved between two reads keeps its first version, so that the append conflicts.
    private func note(
        _ stream: UUID, _ version: Int, _ latest: Timestamp?, cached: Bool
    ) {
        seen.withLock {
            if let latest { $0.latest = max(latest, $0.latest ?? latest) }
            $0.reads[stream] = min(version, $0.reads[stream] ?? version)
            $0.cached = $0.cached || cached
        }
    }

    /// Whether a refusal may be told: one that came from the cache must be checked first, since
    /// nothing is appended that would assert it. False: the cache was behind and is now dropped.
    func stillHolds() async throws(LogFailure) -> Bool {
        guard seen.withLock({ $0.cached }) else { return true }
        // To ask for the head is to learn the epoch.
        _ = try await log.head(of: realm)
        guard log.knownEpoch(of: realm) == epoch else { return false }
        guard try await moved().isEmpty else {
            cache.forget(reads.keys, in: realm)
            return false
        }
        return true
    }

    /// The streams that were read and have events since.
    func moved() async throws(LogFailure) -> [UUID] {
        var moved: [UUID] = []
        for (stream, version) in reads
        where try await !log.stream(stream, after: version, in: realm).isEmpty {
            moved.append(stream)
        }
        return moved
    }
}
