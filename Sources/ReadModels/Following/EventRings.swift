public import EventSourcing
public import EventStore
import Synchronization

/// The rings of the realms that are followed on this node, and the clock that wakes who waits for long.
public final class EventRings: Sendable {
    private let log: any EventLog
    private let hub: CommitHub
    private let rings = Mutex<[RealmID: EventRing]>([:])
    private let count = Atomic<UInt64>(0)

    public init(_ log: any EventLog, hub: CommitHub) {
        self.log = log
        self.hub = hub
    }

    /// Seconds, as `tick` counts them.
    public var ticks: UInt64 { count.load(ordering: .relaxed) }

    /// Ticks the rings once a second.
    public func tick() {
        let now = count.wrappingAdd(1, ordering: .relaxed).newValue
        for ring in all { ring.wake(due: now) }
    }

    /// Has every follower look around.
    public func wakeAll() {
        for ring in all { ring.wakeAll() }
    }

    private var all: [EventRing] { rings.withLock { Array($0.values) } }

    /// The realms that are followed.
    public var realms: [RealmID] { rings.withLock { Array($0.keys) } }

    /// How many wait at a realm's ring, and where it ends.
    func waiters(of realm: RealmID) -> Int { rings.withLock { $0[realm] }?.waiters ?? 0 }
    func last(of realm: RealmID) -> Int64 { rings.withLock { $0[realm] }?.last ?? 0 }

    /// A place among those who follow a realm. `filter` says what they are woken for; nil for everything.
    public func follow(_ realm: RealmID, filter: EventFilter? = nil) -> EventFollowing {
        while true {
            let ring = rings.withLock { rings in
                if let known = rings[realm] { return known }
                let made = EventRing(log, hub: hub, realm: realm, tick: ticks)
                rings[realm] = made
                return made
            }
            if let group = ring.enter(filter) {
                return EventFollowing(ring, filter, group: group, of: self)
            }
            forget(ring)
        }
    }

    func leave(_ ring: EventRing, _ group: Int) {
        if ring.leave(group) { forget(ring) }
    }

    /// A new ring takes the place of one that is over.
    private func forget(_ ring: EventRing) {
        rings.withLock { rings in
            if rings[ring.realm] === ring { rings[ring.realm] = nil }
        }
    }
}

/// A follower's place at the ring of its realm, until it is released.
public final class EventFollowing: Sendable {
    private let ring: EventRing
    private let filter: EventFilter?
    private let group: Int
    private let rings: EventRings

    init(_ ring: EventRing, _ filter: EventFilter?, group: Int, of rings: EventRings) {
        self.ring = ring
        self.filter = filter
        self.group = group
        self.rings = rings
    }

    deinit { rings.leave(ring, group) }

    public var ticks: UInt64 { rings.ticks }
    public var alarms: UInt64 { ring.alarms }
    public var last: Int64 { ring.last }

    public func look(after cursor: inout LogCursor, limit: Int) -> EventRing.NextEvents {
        ring.look(after: &cursor, limit: limit)
    }

    /// What the follower's filter wants of a block, in one of the forms that the caller names.
    public func frames(
        of block: RecentBlock, in form: String, _ encode: (Recorded, LogCursor) -> [UInt8]
    ) -> RecentBlock.Frames {
        block.frames(of: group, filter, in: form, encode)
    }

    public func page(
        after cursor: inout LogCursor, limit: Int
    ) async throws(LogFailure) -> EventRing.Page? {
        try await ring.page(after: &cursor, limit: limit)
    }

    public func wait(
        past cursor: LogCursor, since alarms: UInt64, until tick: UInt64,
        ifPassed passedTick: UInt64 = .max
    ) async -> Int64 {
        await ring.wait(
            past: cursor, in: group, since: alarms, until: tick, ifPassed: passedTick)
    }
}
