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
        /// What lets readers in, while they read.
        var grants: [UUID: FeedGrant] = [:]
        /// How many each owner has.
        var counts: [UUID: Int] = [:]
        var total = 0
    }

    let rings: EventRings
    let leases: FeedLeases
    let sent: Counter
    let holes: Counter
    private let connections: Gauge
    private let state = Mutex(State())

    public init(_ rings: EventRings, metrics: Metrics) {
        self.rings = rings
        connections = metrics.gauge("urd_feed_connections", help: "Feeds that are open.")
        leases = FeedLeases(rings, metrics: metrics)
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

    var isFull: Bool { state.withLock { $0.total >= Self.most } }

    /// A place for one more feed of this holder, until it is released.
    func open(for holder: FeedHolder) throws(Refusal) -> FeedPlace {
        let result: Result<FeedGrant, Refusal> = state.withLock { state in
            guard state.total < Self.most else { return .failure(.tooMany) }
            guard state.counts[holder.owner, default: 0] < Self.mostOfKey else {
                return .failure(.tooManyOfKey)
            }
            var known = state.grants[holder.grant]
            if known?.standing != .good { known = nil }
            let grant = known ?? FeedGrant(holder)
            grant.count.wrappingAdd(1, ordering: .relaxed)
            state.grants[holder.grant] = grant
            state.counts[holder.owner, default: 0] += 1
            state.total += 1
            return .success(grant)
        }
        let grant = try result.get()
        connections.add(1)
        return FeedPlace(grant, of: self)
    }

    fileprivate func leave(_ grant: FeedGrant) {
        state.withLock { state in
            let left = grant.count.wrappingSubtract(1, ordering: .relaxed).newValue
            let (owner, id) = (grant.holder.owner, grant.holder.grant)
            state.total -= 1
            state.counts[owner, default: 1] -= 1
            if state.counts[owner] == 0 { state.counts[owner] = nil }
            if left == 0, state.grants[id] === grant { state.grants[id] = nil }
        }
        connections.add(-1)
    }

    /// Closes the feeds of those whose key was revoked, whose session is over, or who have lost a right.
    func checkGrants() async {
        var isOver = false
        for grant in state.withLock({ Array($0.grants.values) }) {
            guard let isGood = grant.holder.isGood else { continue }
            do {
                grant.note(try await isGood() ? .good : .revoked)
            } catch {
                grant.doubt(atMost: Self.longestDoubt)
            }
            if grant.standing != .good { isOver = true }
        }
        if isOver { rings.wakeAll() }
    }

    /// Looks after the feeds of this node until the task is cancelled.
    public func run(_ cursors: some FeedCursors) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.keepTime() }
            group.addTask { try await self.watchGrants() }
            group.addTask { try await self.leases.watch(cursors) }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Wakes feeds with a time-out once a second.
    private func keepTime() async throws {
        while true {
            try await Task.sleep(for: .seconds(1))
            rings.tick()
        }
    }

    private func watchGrants() async throws {
        while true {
            try await Task.sleep(for: .seconds(2))
            await checkGrants()
        }
    }
}

/// Whose a feed is.
struct FeedHolder: Sendable {
    /// An admin key, or a client: it has so many feeds on a node.
    let owner: UUID
    /// What lets it in: the key, or the session of its token.
    let grant: UUID
    /// Whether that still holds; nil for the operator's own process.
    let isGood: (@Sendable () async throws -> Bool)?

    static let `operator` = FeedHolder(owner: .zero, grant: .zero, isGood: nil)
}

/// What feeds were opened with.
private final class FeedGrant: Sendable {
    let holder: FeedHolder
    private let doubts = Atomic(0)
    private let noted = Atomic(FeedPlace.Standing.good.rawValue)
    /// Changed under the lock of all feeds alone.
    let count = Atomic(0)

    init(_ holder: FeedHolder) {
        self.holder = holder
    }

    var standing: FeedPlace.Standing {
        FeedPlace.Standing(rawValue: noted.load(ordering: .relaxed)) ?? .revoked
    }

    /// Revoked access is not granted again.
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
        /// The reader's access could not be checked for too long.
        case unknown
    }

    private let grant: FeedGrant
    let feeds: Feeds

    fileprivate init(_ grant: FeedGrant, of feeds: Feeds) {
        self.grant = grant
        self.feeds = feeds
    }

    deinit { feeds.leave(grant) }

    var standing: Standing { grant.standing }
}
