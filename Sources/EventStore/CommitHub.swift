public import EventSourcing
import Synchronization

/// Tells followers in this process how far the log of each realm is, and in which epoch.
///
/// Heads come from this node's own commits at once, and from other nodes' through a poll. Positions
/// of two epochs do not compare: a failover or a restore took the tail of the log away that the
/// earlier ones are of. So everything here compares (epoch, position), and a report of another
/// epoch than the known one makes the realm begin anew: head and configuration are what was told,
/// every cache that hangs on `configuration(of:)` is void, and followers look again.
public final class CommitHub: Sendable {
    /// What this node knows of one realm's log.
    fileprivate struct Tracked {
        /// The epoch; 0 for an unknown one.
        var epoch = 0
        var head: Int64?
        /// Where something last changed that every request looks at.
        var configuration: Int64 = 0
        /// How often another epoch was met.
        var restarts: Int64 = 0
        var waiters: [UInt64: Waiter] = [:]

        mutating func begin(_ newEpoch: Int) {
            (epoch, head, configuration) = (newEpoch, nil, 0)
            restarts += 1
        }

        mutating func takeWaiters(before position: Int64) -> [Waiter] {
            let woken = waiters.filter { $0.value.after < position }
            for id in woken.keys { waiters[id] = nil }
            return Array(woken.values)
        }
    }

    fileprivate struct Waiter {
        let after: Int64
        let continuation: CheckedContinuation<Void, Never>
    }

    struct State {
        fileprivate var logs: [RealmID: Tracked] = [:]
        private var lastID: UInt64 = 0
        var rest: Rest
        fileprivate var listeners: [@Sendable (RealmID) -> Void] = []

        init(rest: Rest) { self.rest = rest }

        mutating func newID() -> UInt64 {
            lastID += 1
            return lastID
        }

        /// Returns who is to be woken, because the realm begins anew; nil where it does not.
        fileprivate mutating func enter(_ epoch: Int, _ realm: RealmID) -> [Waiter]? {
            let known = logs[realm]?.epoch ?? 0
            guard known != epoch else { return nil }
            guard known != 0 else {
                for listener in listeners { listener(realm) }
                logs[realm, default: Tracked()].epoch = epoch
                return nil
            }
            return restart(realm, epoch)
        }

        fileprivate mutating func restart(_ realm: RealmID, _ epoch: Int) -> [Waiter] {
            for listener in listeners { listener(realm) }
            var log = logs[realm] ?? Tracked()
            log.begin(epoch)
            let woken = log.takeWaiters(before: .max)
            logs[realm] = log
            return woken
        }
    }

    let state: Mutex<State>

    /// - Parameter stillness: logs that have not moved for so long are still, and who looks for work rests longer.
    public init(stillness: Duration = .seconds(2)) {
        state = Mutex(State(rest: Rest(stillness: stillness)))
    }

    /// The last position known to be committed.
    public func head(of realm: RealmID) -> Int64 {
        state.withLock { $0.logs[realm]?.head ?? 0 }
    }

    /// The epoch of a realm's log; 0 for an unknown one.
    public func epoch(of realm: RealmID) -> Int {
        state.withLock { $0.logs[realm]?.epoch ?? 0 }
    }

    /// How often the realm's log was found in another epoch.
    public func restarts(of realm: RealmID) -> Int64 {
        state.withLock { $0.logs[realm]?.restarts ?? 0 }
    }

    public var realms: [RealmID] {
        state.withLock { state in state.logs.filter { $0.value.head != nil }.map(\.key) }
    }

    /// A number that is another one as soon as this process can know that something of the realm
    /// changed that every request looks at, or that its log is in another epoch.
    public func configuration(of realm: RealmID) -> Int64 {
        state.withLock { state in
            guard let log = state.logs[realm] else { return 0 }
            return log.restarts << 48 | log.configuration
        }
    }

    /// Calls this with each realm whose epoch is about to be another one, or known for the first
    /// time, before any reader of the hub can learn of it. It is called under the hub's lock, and
    /// must not ask the hub.
    public func onRestart(_ listener: @escaping @Sendable (RealmID) -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// Notes how far a log is. In one epoch heads only grow, also when reports arrive out of order.
    /// - Returns: false where the log is in another epoch than the one known so far.
    @discardableResult
    public func publish(_ head: Head, of realm: RealmID) -> Bool {
        guard head.epoch > 0 else { return true }
        let (isKnown, woken, rested) = state.withLock { state in
            let restarted = state.enter(head.epoch, realm)
            var woken = restarted ?? []
            var log = state.logs[realm] ?? Tracked()
            let moves = head.position > log.head ?? -1
            if moves {
                log.head = head.position
                if !log.waiters.isEmpty { woken += log.takeWaiters(before: head.position) }
                state.logs[realm] = log
            }
            let rested = moves || restarted != nil ? state.rest.stir() : []
            return (restarted == nil, woken, rested)
        }
        for waiter in woken { waiter.continuation.resume() }
        for continuation in rested { continuation.resume() }
        return isKnown
    }

    /// Notes where something last changed that every request looks at.
    public func publishConfiguration(_ at: Head, of realm: RealmID) {
        guard at.epoch > 0 else { return }
        let woken = state.withLock { state in
            let woken = state.enter(at.epoch, realm) ?? []
            if at.position > state.logs[realm]?.configuration ?? 0 {
                state.logs[realm, default: Tracked()].configuration = at.position
            }
            return woken
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Notes the epoch that a realm's log is in.
    /// - Returns: false where the epoch differs from the known one.
    @discardableResult
    func enter(_ epoch: Int, of realm: RealmID) -> Bool {
        let woken = state.withLock { $0.enter(epoch, realm) }
        for waiter in woken ?? [] { waiter.continuation.resume() }
        return woken == nil
    }

    /// The epoch that was known is over, and the next one is not known yet.
    func restart(_ realm: RealmID) {
        let woken = state.withLock { $0.restart(realm, 0) }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Notes that the database has these realms and no others: one that went with a lost tail begins
    /// anew, should it ever come again.
    func keepOnly(_ realms: Set<RealmID>) {
        let woken = state.withLock { state in
            let lost = state.logs.filter { $0.value.epoch != 0 && !realms.contains($0.key) }.keys
            return lost.flatMap { state.restart($0, 0) }
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Returns once the realm's head is past a position, or the task is cancelled, or the realm
    /// began anew. Who waits from an earlier look at the log says how often it had begun anew by then.
    public func wait(past position: Int64, in realm: RealmID, since restarts: Int64? = nil) async {
        let id = state.withLock { $0.newID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state -> Bool in
                    var log = state.logs[realm] ?? Tracked()
                    if Task.isCancelled || log.head ?? 0 > position { return true }
                    if let restarts, restarts != log.restarts { return true }
                    log.waiters[id] = Waiter(after: position, continuation: continuation)
                    state.logs[realm] = log
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.logs[realm]?.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume()
        }
    }

    /// Waits for a commit past a position, with a time-out.
    public func wait(past position: Int64, in realm: RealmID, atMost time: Duration) async {
        await withTaskGroup { group in
            group.addTask { await self.wait(past: position, in: realm) }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}
