public import EventSourcing
public import EventStore
import Values

/// The events of a realm from a position on, in order and for ever: what is in the log, then what
/// is appended. Sealed fields stay sealed. For subscribers: feeds, webhooks.
public struct LogFollower<Log: EventLog>: AsyncSequence, Sendable {
    public typealias Element = Recorded
    public typealias Failure = FollowFailure

    let log: Log
    let hub: CommitHub
    let realm: RealmID
    let first: Int64
    let types: Set<String>?
    let page: Int
    let endsAtHead: Bool

    /// - Parameters:
    ///   - position: the first position that is wanted, counted from 1.
    ///   - types: the wire names that are wanted; nil for all.
    ///   - endsAtHead: ends where the log ended when it was reached, instead of waiting.
    public init(
        _ log: Log, hub: CommitHub, realm: RealmID, from position: Int64 = 1,
        types: Set<String>? = nil, page: Int = 500, endsAtHead: Bool = false
    ) {
        self.log = log
        self.hub = hub
        self.realm = realm
        first = Swift.max(1, position)
        self.types = types
        self.page = Swift.max(1, page)
        self.endsAtHead = endsAtHead
    }

    public func makeAsyncIterator() -> EventCursor<Log> {
        EventCursor(self)
    }
}

/// Why a follower can't go on.
public enum FollowFailure: Error, Equatable, Sendable {
    /// This position is missing though later ones exist. Positions have no gaps: something removed
    /// it, and to step over it would hide that.
    case hole(at: Int64)
    case log(LogFailure)
}

/// Where one follower is.
public struct EventCursor<Log: EventLog>: AsyncIteratorProtocol {
    private let follower: LogFollower<Log>
    private var waiting: ArraySlice<Recorded> = []
    /// The position that must come next out of the log.
    public private(set) var next: Int64
    private var epoch: Int?
    /// What was read last ended where the log did: what comes then is told by the hub, and is not looked for.
    private var isAtHead = false
    /// How often the log had begun anew before that look at it.
    private var restarts: Int64 = 0

    init(_ follower: LogFollower<Log>) {
        self.follower = follower
        next = follower.first
    }

    /// The next event that is wanted. Nil once the task is cancelled, or at the end if it ends.
    public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(FollowFailure) -> Recorded? {
        while !Task.isCancelled {
            while let event = waiting.popFirst() {
                if follower.types?.contains(event.name) ?? true { return event }
            }
            if !isAtHead {
                restarts = follower.hub.restarts(of: follower.realm)
                if try await fetch(isolation: actor) { continue }
            }
            if follower.endsAtHead { return nil }
            isAtHead = false
            await follower.hub.wait(past: next - 1, in: follower.realm, since: restarts)
        }
        return nil
    }

    public mutating func next() async throws(FollowFailure) -> Recorded? {
        try await next(isolation: nil)
    }

    /// False where the log has no further events now.
    private mutating func fetch(
        isolation actor: isolated (any Actor)?
    ) async throws(FollowFailure) -> Bool {
        let page: LogPage
        do throws(LogFailure) {
            page = try await follower.log.page(
                from: next, limit: follower.page, in: follower.realm)
            // Positions of another epoch are others, though they have the same numbers.
            if let epoch, epoch != page.head.epoch, page.head.epoch != 0 { throw .fenced }
        } catch {
            throw .log(error)
        }
        epoch = page.head.epoch == 0 ? nil : page.head.epoch
        // What is at or before the head of that moment must be in the page.
        guard page.head.position >= next else { return false }
        guard !page.events.isEmpty else { throw .hole(at: next) }
        for event in page.events {
            guard event.position == next else { throw .hole(at: next) }
            next += 1
        }
        waiting = page.events[...]
        isAtHead = next > page.head.position
        return true
    }
}
