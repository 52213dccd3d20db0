public import EventSourcing
import EventStore
import Synchronization

/// The newest events of one realm, read once for all that follow it on this node.
///
/// Followers wait in groups of one filter each. What a commit brings is held against each filter once,
/// however many follow with it, and wakes those groups alone that it concerns.
public final class EventRing: Sendable {
    /// What a follower finds behind its place.
    public enum NextEvents: Sendable {
        /// And the block that they are, where they are one.
        case events([RecentEvent], block: RecentBlock?)
        /// The reader has all events.
        case nothing
        /// What it needs is not held here: it reads a page.
        case behind
        /// The log went back behind it, to this position.
        case lost(keptTo: Int64)
        case failed(FollowFailure)
    }

    /// A page of the log, for followers that are behind what is held.
    public enum Page: Sendable {
        case events([Recorded], head: Head)
        case lost(keptTo: Int64)
        case failed(FollowFailure)
    }

    struct Waiter {
        let id: UInt64
        /// The tick at which the reader is woken without an event.
        let tick: UInt64
        /// The tick at which the reader is woken if an event passed since its last read.
        let passedTick: UInt64
        let position: Int64
        let continuation: CheckedContinuation<Int64, Never>

        func isDue(at now: UInt64, _ last: Int64) -> Bool {
            tick <= now || passedTick <= now && position < last
        }
    }

    private struct Group {
        let filter: EventFilter?
        var followers = 0
        var waiters: [Waiter] = []
    }

    private struct State {
        var events = RecentEvents()
        var history = EpochHistory.none
        var hasBegun = false
        var failure: FollowFailure?
        var groups: [Int: Group] = [:]
        var nextGroup = 0
        var nextID: UInt64 = 0
        var alarms: UInt64 = 0
        /// The tick of the last event that passed.
        var tick: UInt64
        var reader: Task<Void, Never>?
        var isOver = false

        /// The waiters to wake, each with the position up to which no event concerns it.
        mutating func takeWaiters(through position: Int64) -> [(Waiter, Int64)] {
            var woken: [(Waiter, Int64)] = []
            for id in groups.keys { woken += take(id, through: position) }
            return woken
        }

        mutating func take(_ group: Int, through position: Int64) -> [(Waiter, Int64)] {
            guard let waiters = groups[group]?.waiters, !waiters.isEmpty else { return [] }
            groups[group]?.waiters.removeAll(keepingCapacity: true)
            return waiters.map { ($0, position) }
        }
    }

    static let readersAtOnce = 4
    private static let page = 512
    /// So many a new ring begins with, so that those who were away for a moment need read no page.
    private static let beginning: Int64 = 256

    public let realm: RealmID
    private let log: any EventLog
    private let hub: CommitHub
    private let turns = ReadingTurns(readersAtOnce)
    private let state: Mutex<State>

    init(_ log: any EventLog, hub: CommitHub, realm: RealmID, tick: UInt64) {
        state = Mutex(State(tick: tick))
        self.log = log
        self.hub = hub
        self.realm = realm
    }

    // MARK: - Followers

    /// Nil where the ring is given up: there is another one to be made.
    func enter(_ filter: EventFilter?) -> Int? {
        state.withLock { state in
            if state.isOver { return nil }
            if let known = state.groups.first(where: { $0.value.filter == filter })?.key {
                state.groups[known]?.followers += 1
                return known
            }
            state.nextGroup += 1
            state.groups[state.nextGroup] = Group(filter: filter, followers: 1)
            if state.reader == nil { state.reader = Task.detached { await self.read() } }
            return state.nextGroup
        }
    }

    /// True without followers: then no waiter can enter either.
    func leave(_ group: Int) -> Bool {
        let reader: Task<Void, Never>? = state.withLock { state in
            state.groups[group]?.followers -= 1
            if state.groups[group]?.followers == 0 { state.groups[group] = nil }
            guard state.groups.isEmpty else { return nil }
            state.isOver = true
            return state.reader
        }
        reader?.cancel()
        return reader != nil
    }

    /// What is behind the cursor, which is moved to the log's epoch where that changes nothing for it.
    func look(after cursor: inout LogCursor, limit: Int) -> NextEvents {
        state.withLock { state in
            // What is before a hole is still to be had, in the epoch that the ring has met.
            if let failure = state.failure,
                !state.hasBegun || cursor.epoch > state.events.epoch
                    || cursor.position >= state.events.last
            {
                return .failed(failure)
            }
            guard state.hasBegun else { return .nothing }
            // One of a later epoch than the ring has met reads for itself.
            if cursor.epoch > state.events.epoch { return .behind }
            if cursor.epoch < state.events.epoch {
                if case .lost(let kept) = state.history.standing(of: cursor) {
                    return .lost(keptTo: kept)
                }
                cursor = LogCursor(epoch: state.events.epoch, position: cursor.position)
            }
            guard state.events.reach(back: cursor.position) else { return .behind }
            let found = state.events.after(cursor.position, limit: limit)
            return found.events.isEmpty ? .nothing : .events(found.events, block: found.block)
        }
    }

    /// Moves with each call of `wakeAll`.
    var alarms: UInt64 { state.withLock { $0.alarms } }

    var waiters: Int { state.withLock { $0.groups.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Where the log ends, as far as the ring knows.
    var last: Int64 { state.withLock { $0.events.last } }

    /// Returns once there is something behind the cursor for this group, or at the tick, or when all
    /// were woken since the alarms were counted, or when the task is cancelled; and at an earlier tick if
    /// there were events that the group does not want.
    /// - Returns: up to where nothing concerns the group.
    func wait(
        past cursor: LogCursor, in group: Int, since alarms: UInt64, until tick: UInt64,
        ifPassed passedTick: UInt64
    ) async -> Int64 {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state -> Bool in
                    if Task.isCancelled || state.alarms != alarms || state.failure != nil
                        || state.tick >= tick
                    {
                        return true
                    }
                    if state.hasBegun, cursor.epoch <= state.events.epoch,
                        cursor.epoch < state.events.epoch || cursor.position < state.events.last
                    {
                        return true
                    }
                    state.groups[group]?.waiters.append(
                        Waiter(
                            id: id, tick: tick, passedTick: passedTick,
                            position: cursor.position, continuation: continuation))
                    return false
                }
                if isDone { continuation.resume(returning: cursor.position) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard
                    let index = state.groups[group]?.waiters.firstIndex(where: { $0.id == id })
                else { return nil }
                return state.groups[group]?.waiters.remove(at: index)
            }
            waiter?.continuation.resume(returning: cursor.position)
        }
    }

    func wakeAll() {
        wake(
            state.withLock { state in
                state.alarms += 1
                return state.takeWaiters(through: state.events.last)
            })
    }

    /// Wakes those who wait for this tick or an earlier one.
    func wake(due tick: UInt64) {
        wake(
            state.withLock { state in
                var due: [(Waiter, Int64)] = []
                state.tick = tick
                let last = state.events.last
                for (id, group) in state.groups {
                    guard group.waiters.contains(where: { $0.isDue(at: tick, last) }) else {
                        continue
                    }
                    due += group.waiters.filter { $0.isDue(at: tick, last) }.map { ($0, last) }
                    state.groups[id]?.waiters.removeAll { $0.isDue(at: tick, last) }
                }
                return due
            })
    }

    private func wake(_ woken: [(Waiter, Int64)]) {
        for (waiter, position) in woken { waiter.continuation.resume(returning: position) }
    }

    /// Reads behind the cursor for one follower; nil where its task was cancelled meanwhile.
    func page(after cursor: inout LogCursor, limit: Int) async throws(LogFailure) -> Page? {
        let place = cursor
        let read = try await turns.pass { () throws(LogFailure) in
            try await log.page(from: place.position + 1, limit: limit, in: realm)
        }
        guard let page = read else { return nil }
        if page.head.epoch != cursor.epoch {
            if case .lost(let kept) = page.epochs.standing(of: cursor) {
                return .lost(keptTo: kept)
            }
            cursor = LogCursor(epoch: page.head.epoch, position: cursor.position)
        }
        let whole = page.whole(after: cursor.position)
        if whole.isEmpty, let hole = page.hole(after: cursor.position) {
            return .failed(.hole(at: hole))
        }
        return .events(whole, head: page.head)
    }

    // MARK: - The reader

    private func read() async {
        while !Task.isCancelled, state.withLock({ $0.failure == nil }) {
            let restarts = hub.restarts(of: realm)
            let isAtHead: Bool
            do throws(LogFailure) {
                switch try await advance() {
                case .more: continue
                case .head: isAtHead = true
                case .nothing: isAtHead = false
                }
            } catch {
                guard !error.isLasting else { return fail(.log(error)) }
                // Nothing is lost: it is read as soon as it can be.
                try? await Task.sleep(for: .milliseconds(200))
                continue
            }
            let last = last
            if !isAtHead, hub.head(of: realm) > last, hub.restarts(of: realm) == restarts {
                // The hub knows of more than the log told just now.
                try? await Task.sleep(for: .milliseconds(20))
            }
            await hub.wait(past: last, in: realm, since: restarts)
        }
    }

    /// What there is behind a piece of the log that was read.
    private enum Advance {
        case more
        /// It ended where the log did: what comes then is told by the hub, and is not looked for.
        case head
        /// No events were read.
        case nothing
    }

    private func advance() async throws(LogFailure) -> Advance {
        let (epoch, last, hasBegun) = state.withLock {
            ($0.events.epoch, $0.events.last, $0.hasBegun)
        }
        let page = try await log.page(from: last + 1, limit: Self.page, in: realm)
        guard hasBegun, page.head.epoch == epoch else {
            enter(page.epochs)
            return .more
        }
        let whole = page.whole(after: last)
        if whole.isEmpty, let hole = page.hole(after: last) {
            fail(.hole(at: hole))
            return .more
        }
        guard let newest = whole.last?.position else { return .nothing }
        append(whole)
        return page.head.position > newest ? .more : .head
    }

    /// The log is in another epoch than the known one, if one is. What is held stays where the log did
    /// not go back behind it.
    private func enter(_ history: EpochHistory) {
        let after = max(0, history.head.position - Self.beginning)
        wake(
            state.withLock { state in
                let held = LogCursor(epoch: state.events.epoch, position: state.events.last)
                state.history = history
                if state.hasBegun, case .valid = history.standing(of: held) {
                    state.events.move(to: history.head.epoch)
                } else {
                    state.events.begin(history.head.epoch, after: after)
                }
                state.hasBegun = true
                // Each of them compares its own place with the history.
                return state.takeWaiters(through: 0)
            })
    }

    private func append(_ events: [Recorded]) {
        wake(
            state.withLock { state in
                let before = state.events.last
                for event in events { state.events.append(event) }
                var woken: [(Waiter, Int64)] = []
                for (id, group) in state.groups where !group.waiters.isEmpty {
                    guard let filter = group.filter else {
                        woken += state.take(id, through: before)
                        continue
                    }
                    guard let wanted = events.first(where: { filter.wants($0) }) else { continue }
                    woken += state.take(id, through: wanted.position - 1)
                }
                return woken
            })
    }

    private func fail(_ failure: FollowFailure) {
        wake(
            state.withLock { state in
                state.failure = failure
                return state.takeWaiters(through: 0)
            })
    }
}
