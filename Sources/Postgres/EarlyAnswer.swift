public import Synchronization

/// An answer that is asked for before it is needed: who asks goes on with something else meanwhile, and mostly finds it
/// there.
///
/// What came early is given once, and a failure not at all: after either it is asked for anew. A failure that was kept
/// would be given to every retry, long after the database is back.
public final class EarlyAnswer<Value: Sendable, Fault: Error>: Sendable {
    @usableFromInline typealias Outcome = Result<Value?, Fault>
    @usableFromInline typealias Again = @Sendable () async throws(Fault) -> Value?

    @usableFromInline @safe enum State: Sendable {
        case open
        case given(Outcome)
        case awaited(UnsafeContinuation<Outcome?, Never>)
        case taken
    }

    @usableFromInline let state = Mutex(State.open)
    @usableFromInline let again: Again

    @inlinable
    init(again: @escaping Again) {
        self.again = again
    }

    @inlinable
    public var value: Value? {
        get async throws(Fault) {
            if case .success(let value) = await early { return value }
            return try await again()
        }
    }

    /// Nil where another caller has the answer.
    @inlinable
    var early: Outcome? {
        get async {
            await unsafe withUnsafeContinuation { (waiter: UnsafeContinuation<Outcome?, Never>) in
                let (isKnown, outcome) = state.withLock { state -> (Bool, Outcome?) in
                    switch state {
                    case .open:
                        unsafe state = .awaited(waiter)
                        return (false, nil)
                    case .given(let outcome):
                        state = .taken
                        return (true, outcome)
                    case .awaited, .taken: return (true, nil)
                    }
                }
                if isKnown { unsafe waiter.resume(returning: outcome) }
            }
        }
    }

    @inlinable
    func give(_ outcome: Outcome) {
        let state = state.withLock { state in
            defer {
                switch state {
                case .open: state = .given(outcome)
                case .awaited, .given, .taken: state = .taken
                }
            }
            return state
        }
        if case .awaited(let waiter) = state { unsafe waiter.resume(returning: outcome) }
    }
}
