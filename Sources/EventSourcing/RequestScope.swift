import Synchronization

/// How far a request is, for those who carry out what it asks for.
///
/// A caller that is told 503, because its request takes too long, is told that nothing was used up. So
/// nothing is begun after that. What is on record by then, or may be, is carried to its end: its answer is kept for the
/// caller, who comes again.
public final class RequestScope: Sendable {
    /// Of the request that this task works for, if it does.
    @TaskLocal public static var current: RequestScope?

    private struct State {
        var isGone = false
        var inAir = 0
        var hasAppended = false
        var isSubjectSearch = false
    }

    private let state = Mutex(State())

    public init() {}

    /// The caller was told that it takes too long. Says whether anything is on record, or may yet be.
    @discardableResult
    public func leave() -> Bool {
        state.withLock { state in
            state.isGone = true
            return state.hasAppended || state.inAir > 0
        }
    }

    public var isGone: Bool { state.withLock { $0.isGone } }

    /// The request asks what is known of an address, which its log line says. Nothing is opened for it, so that
    /// nothing is put on record.
    public func noteSubjectSearch() { state.withLock { $0.isSubjectSearch = true } }

    public var isSubjectSearch: Bool { state.withLock { $0.isSubjectSearch } }

    /// Whether something was put on record for the request.
    public var hasAppended: Bool { state.withLock { $0.hasAppended } }

    /// Whether a request that waits for its turn is to leave the queue: its caller is gone, and
    /// nothing was begun.
    public var isWithdrawn: Bool { state.withLock { $0.isGone && !$0.hasAppended } }

    /// Something is about to be appended. False: the work must not begin.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isGone || state.hasAppended else { return false }
            state.inAir += 1
            return true
        }
    }

    func end(appended: Bool) {
        state.withLock { state in
            state.inAir -= 1
            state.hasAppended = state.hasAppended || appended
        }
    }
}
