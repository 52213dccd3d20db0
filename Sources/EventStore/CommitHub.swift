public import EventSourcing
import Synchronization

/// Tells followers in this process how far the log of each realm is.
///
/// Heads come from this node's own commits at once, and from other nodes' through a poll.
public final class CommitHub: Sendable {
    private struct State {
        var heads: [RealmID: Int64] = [:]
        var waiters: [RealmID: [UInt64: Waiter]] = [:]
        var nextID: UInt64 = 0
        var configurations: [RealmID: Int64] = [:]
        /// How often a realm's log was restored: what was known before is another log's.
        var restarts: [RealmID: Int64] = [:]
    }

    private struct Waiter {
        let after: Int64
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Mutex(State())

    public init() {}

    /// The last position known to be committed.
    public func head(of realm: RealmID) -> Int64 {
        state.withLock { $0.heads[realm] ?? 0 }
    }

    public var realms: [RealmID] { state.withLock { Array($0.heads.keys) } }

    /// The log was restored: what is known of its head may be ahead of it now, and followers that
    /// wait for more would be told that there is more, again and again.
    func restart(_ realm: RealmID) {
        state.withLock {
            $0.heads[realm] = nil
            $0.configurations[realm] = nil
            $0.restarts[realm, default: 0] += 1
        }
    }

    /// A number that is another one as soon as this process can know that something of the realm
    /// changed that every request looks at.
    public func configuration(of realm: RealmID) -> Int64 {
        state.withLock { ($0.restarts[realm] ?? 0) << 48 | ($0.configurations[realm] ?? 0) }
    }

    public func publishConfiguration(_ position: Int64, of realm: RealmID) {
        state.withLock { state in
            guard position > state.configurations[realm] ?? 0 else { return }
            state.configurations[realm] = position
        }
    }

    /// Heads only grow, whoever is first to tell.
    public func publish(_ position: Int64, of realm: RealmID) {
        let woken: [CheckedContinuation<Void, Never>] = state.withLock {
            guard position > $0.heads[realm] ?? -1 else { return [] }
            $0.heads[realm] = position
            guard let waiters = $0.waiters[realm], !waiters.isEmpty else { return [] }
            let woken = waiters.filter { $0.value.after < position }
            for id in woken.keys { $0.waiters[realm]?[id] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns once the realm's head is past a position, or the task is cancelled.
    public func wait(past position: Int64, in realm: RealmID) async {
        let id = state.withLock {
            $0.nextID += 1
            return $0.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state -> Bool in
                    if Task.isCancelled || state.heads[realm] ?? 0 > position { return true }
                    state.waiters[realm, default: [:]][id] = Waiter(
                        after: position, continuation: continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters[realm]?.removeValue(forKey: id) }
            waiter?.continuation.resume()
        }
    }
}
