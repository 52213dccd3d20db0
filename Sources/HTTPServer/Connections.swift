internal import Synchronization

/// All open connections, and how many of them come from each source.
final class Connections: Sendable {
    private struct State {
        var all: [ObjectIdentifier: Connection] = [:]
        var perSource: [Source.Key: Int] = [:]
        /// Evicted connections, until they are closed.
        var leaving: Set<ObjectIdentifier> = []
    }

    private let maximum: Int
    private let maximumPerSource: Int
    private let state = Mutex(State())

    init(maximum: Int, maximumPerSource: Int?) {
        self.maximum = maximum
        self.maximumPerSource = maximumPerSource ?? .max
    }

    var count: Int { state.withLock { $0.all.count } }

    var all: [Connection] { state.withLock { Array($0.all.values) } }

    /// Asked before the connection is counted, because libmicrohttpd may still give it up in
    /// between without a word; two threads that accept at the same instant can exceed the limit by
    /// one.
    ///
    /// When the server is full, the connections that have been idle for the longest are closed:
    /// idle connections must not keep out clients with a request.
    func hasRoom(for source: Source) -> Bool {
        state.withLock { state in
            guard state.perSource[source.key, default: 0] < maximumPerSource else { return false }
            return state.all.count - state.leaving.count < maximum || makeRoom(&state)
        }
    }

    /// Evicts a few connections at a time, so that one scan of all connections serves many.
    private func makeRoom(_ state: inout State) -> Bool {
        let idle = state.all.values.compactMap { connection in
            connection.waitingSince.map { (connection, $0) }
        }
        // Two threads may have let one in too many.
        let excess = state.all.count - state.leaving.count - maximum + 1
        let share = max(excess, maximum / 64)
        for (connection, _) in idle.sorted(by: { $0.1 < $1.1 }).prefix(share)
        where connection.giveWay() {
            state.leaving.insert(ObjectIdentifier(connection))
        }
        return state.all.count - state.leaving.count < maximum
    }

    func insert(_ connection: Connection) {
        state.withLock { state in
            state.all[ObjectIdentifier(connection)] = connection
            state.perSource[connection.source.key, default: 0] += 1
        }
    }

    func remove(_ connection: Connection) {
        state.withLock { state in
            guard state.all.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            state.leaving.remove(ObjectIdentifier(connection))
            let left = state.perSource[connection.source.key, default: 0] - 1
            state.perSource[connection.source.key] = left > 0 ? left : nil
        }
    }
}
