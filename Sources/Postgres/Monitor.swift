internal import Glibc

/// State behind a lock that threads of our own can wait on. Tasks take it briefly and never wait.
@safe public final class Monitor<State>: @unchecked Sendable {
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Threads that look out for something and need not be woken.
    private var awake = 0

    public init(_ state: consuming sending State) {
        self.state = state
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe precondition(pthread_mutex_init(mutex, nil) == 0, "A mutex can be made.")
        unsafe precondition(pthread_cond_init(condition, nil) == 0, "A condition can be made.")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    public func withLock<Value, Problem: Error>(
        _ body: (inout State) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Makes sure that one of the waiting threads looks: an awake one does by itself.
    public func wakeOne() {
        unsafe pthread_mutex_lock(mutex)
        let isSeen = awake > 0
        unsafe pthread_mutex_unlock(mutex)
        if !isSeen { unsafe pthread_cond_signal(condition) }
    }

    public func wakeAll() {
        unsafe pthread_cond_broadcast(condition)
    }

    /// Blocks the calling thread until the closure gives something.
    /// - Parameter turns: how often it looks, and lets other threads run, before it falls asleep.
    public func wait<Value>(yielding turns: Int = 0, for body: (inout State) -> Value?) -> Value {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        for _ in 0..<turns {
            if let value = body(&state) { return value }
            awake += 1
            unsafe pthread_mutex_unlock(mutex)
            sched_yield()
            unsafe pthread_mutex_lock(mutex)
            awake -= 1
        }
        while true {
            if let value = body(&state) { return value }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
