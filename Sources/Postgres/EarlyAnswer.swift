public import Synchronization

/// An answer that is asked for before it is needed: who asks goes on with something else meanwhile, and mostly finds it
/// there.
public final class EarlyAnswer<Value: Sendable, Fault: Error>: Sendable {
    @usableFromInline typealias Outcome = Result<Value?, Fault>

    @usableFromInline @safe enum State: Sendable {
        case open
        case given(Outcome)
        case awaited(UnsafeContinuation<Outcome, Never>)
    }

    @usableFromInline let state = Mutex(State.open)

    @inlinable init() {}

    /// To be asked for once.
    @inlinable
    public var value: Value? {
        get async throws(Fault) {
            let outcome = await unsafe withUnsafeContinuation {
                (waiter: UnsafeContinuation<Outcome, Never>) in
                let given = state.withLock { state -> Outcome? in
                    if case .given(let outcome) = state { return outcome }
                    unsafe state = .awaited(waiter)
                    return nil
                }
                if let given { unsafe waiter.resume(returning: given) }
            }
            return try outcome.get()
        }
    }

    @inlinable
    func give(_ outcome: Outcome) {
        let state = state.withLock { state in
            defer { state = .given(outcome) }
            return state
        }
        if case .awaited(let waiter) = state { unsafe waiter.resume(returning: outcome) }
    }
}
