public import ReadModels
internal import Synchronization
public import Telemetry
internal import Values

/// The feeds that are open on this node: how many, whose, and what they share.
public final class Feeds: Sendable {
    static let mostOfKey = 8
    static let most = 1024
    /// How often in a row it cannot be said whether a key still holds, until its feeds are closed.
    private static let longestDoubt = 15

    private struct State {
        var keys: [UUID: FeedKey] = [:]
        var total = 0
    }

    let rings: EventRings
    let sent: Counter
    let holes: Counter
    private let connections: Gauge
    private let state = Mutex(State())

    public init(_ rings: EventRings, metrics: Metrics) {
        self.rings = rings
        connections = metrics.gauge("urd_feed_connections", help: "Feeds that are open.")
        sent = metrics.counter(
            "urd_feed_events_total", help: "Events that were sent to followers of feeds.")
        holes = metrics.counter(
            "urd_feed_holes_total",
            help: "Feeds that ended because an event was missing or unreadable in the log.")
    }

    enum Refusal: Error {
        case tooManyOfKey
        case tooMany
    }

    /// A place for one more feed of this key, until it is released.
    func open(with key: AdminKeyView?) throws(Refusal) -> FeedPlace {
        let result: Result<FeedKey, Refusal> = state.withLock { state in
            guard state.total < Self.most else { return .failure(.tooMany) }
            let id = key?.id ?? .zero
            var known = state.keys[id]
            if known?.standing != .good { known = nil }
            let holder = known ?? FeedKey(key)
            guard holder.count.load(ordering: .relaxed) < Self.mostOfKey else {
                return .failure(.tooManyOfKey)
            }
            holder.count.wrappingAdd(1, ordering: .relaxed)
            state.keys[id] = holder
            state.total += 1
            return .success(holder)
        }
        let holder = try result.get()
        connections.add(1)
        return FeedPlace(holder, of: self)
    }

    fileprivate func leave(_ holder: FeedKey) {
        state.withLock { state in
            let left = holder.count.wrappingSubtract(1, ordering: .relaxed).newValue
            state.total -= 1
            let id = holder.key?.id ?? .zero
            if left == 0, state.keys[id] === holder { state.keys[id] = nil }
        }
        connections.add(-1)
    }

    /// Closes the feeds of keys that are revoked or have lost a right.
    public func checkKeys(_ queries: some AdminQueries) async {
        var isOver = false
        for holder in state.withLock({ Array($0.keys.values) }) {
            guard let key = holder.key else { continue }
            do {
                let now = try await queries.adminKey(key.id)
                let isGood =
                    now?.revokedAt == nil && now?.digest == key.digest && now?.scope == key.scope
                holder.note(isGood ? .good : .revoked)
            } catch {
                holder.doubt(atMost: Self.longestDoubt)
            }
            if holder.standing != .good { isOver = true }
        }
        if isOver { rings.wakeAll() }
    }

    /// Wakes those who wait for long, once a second, until the task is cancelled.
    public func keepTime() async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            rings.tick()
        }
    }

    /// Looks after the keys until the task is cancelled.
    public func watchKeys(_ queries: some AdminQueries) async throws {
        while true {
            try await Task.sleep(for: .seconds(2))
            await checkKeys(queries)
        }
    }
}

/// A key that feeds were opened with.
private final class FeedKey: Sendable {
    /// The operator's process has none.
    let key: AdminKeyView?
    private let doubts = Atomic(0)
    private let noted = Atomic(FeedPlace.Standing.good.rawValue)
    /// Changed under the lock of all feeds alone.
    let count = Atomic(0)

    init(_ key: AdminKeyView?) {
        self.key = key
    }

    var standing: FeedPlace.Standing {
        FeedPlace.Standing(rawValue: noted.load(ordering: .relaxed)) ?? .revoked
    }

    /// A key that was revoked stays so.
    func note(_ standing: FeedPlace.Standing) {
        doubts.store(0, ordering: .relaxed)
        if self.standing != .revoked { noted.store(standing.rawValue, ordering: .relaxed) }
    }

    func doubt(atMost limit: Int) {
        let count = doubts.wrappingAdd(1, ordering: .relaxed).newValue
        if count >= limit, standing == .good {
            noted.store(FeedPlace.Standing.unknown.rawValue, ordering: .relaxed)
        }
    }
}

/// The place of one feed, given back when it is released.
final class FeedPlace: Sendable {
    enum Standing: UInt8 {
        case good
        case revoked
        /// For too long nobody could say.
        case unknown
    }

    private let holder: FeedKey
    let feeds: Feeds

    fileprivate init(_ holder: FeedKey, of feeds: Feeds) {
        self.holder = holder
        self.feeds = feeds
    }

    deinit { feeds.leave(holder) }

    var standing: Standing { holder.standing }
}
