internal import Synchronization

/// All open connections, and how many of them come from each source.
final class Connections: Sendable {
    private struct State {
        var all: [ObjectIdentifier: Connection] = [:]
        var perSource: [Source.Key: Int] = [:]
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
    func hasRoom(for source: Source) -> Bool {
        state.withLock { state in
            state.all.count < maximum && state.perSource[source.key, default: 0] < maximumPerSource
        }
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
            let left = state.perSource[connection.source.key, default: 0] - 1
            state.perSource[connection.source.key] = left > 0 ? left : nil
        }
    }
}
