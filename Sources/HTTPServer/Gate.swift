internal import Synchronization

/// Counts the connections that are suspended, and closes for good before the server stops:
/// libmicrohttpd ends the process when it is stopped with a suspended connection.
final class Gate: Sendable {
    private struct State {
        var inside = 0
        var closed = false
    }

    private let state = Mutex(State())

    /// False once the gate is closed.
    func enter() -> Bool {
        state.withLock { state in
            if !state.closed { state.inside += 1 }
            return !state.closed
        }
    }

    func leave() {
        state.withLock { $0.inside -= 1 }
    }

    /// Closes the gate: no request enters any more.
    func close() {
        state.withLock { $0.closed = true }
    }

    var inside: Int { state.withLock { $0.inside } }
}
