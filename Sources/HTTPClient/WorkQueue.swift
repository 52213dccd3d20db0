internal import Glibc
internal import Synchronization

/// Work that waits for a thread: a line of bounded length.
@safe final class WorkQueue: @unchecked Sendable {
    struct Work: Sendable {
        struct WorkOutcome {
            /// Not where the server does not answer, or answers that it is too much.
            var goesOn = true
            /// Wakes the thread that waits for the work.
            var tell: () -> Void = {}
        }

        let run: @Sendable (Handle) -> WorkOutcome
        let refuse: @Sendable (Refusal) -> Void
    }

    private struct State: Sendable {
        var waiting: [Work] = []
        var next = 0
        var isClosed = false
        /// Threads that wait for work.
        var idle = 0

        var count: Int { waiting.count - next }

        mutating func take() -> Work? {
            guard next < waiting.count else { return nil }
            defer {
                next += 1
                if next == waiting.count {
                    waiting.removeAll(keepingCapacity: true)
                    next = 0
                } else if next > 1024 {
                    waiting.removeFirst(next)
                    next = 0
                }
            }
            return waiting[next]
        }
    }

    private let state = Mutex(State())
    private let limit: Int
    /// Counts what waits, and once more for each thread when the line is closed.
    private let arrivals = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(limit: Int) {
        self.limit = limit
        unsafe arrivals.initialize(to: sem_t())
        unsafe precondition(sem_init(arrivals, 0, 0) == 0, "A semaphore can be made.")
    }

    deinit {
        unsafe sem_destroy(arrivals)
        unsafe arrivals.deallocate()
    }

    var count: Int { state.withLock { $0.count } }

    /// Whether a thread has nothing better to do than to go on with what it has.
    var isLetAlone: Bool { state.withLock { $0.count == 0 && !$0.isClosed } }

    enum Admission {
        /// There is a thread that waits for it.
        case taken
        /// It waits until a thread is done, or one more begins.
        case waiting
        case refused(Refusal)
    }

    func join(_ work: Work) -> Admission {
        let admission: Admission = state.withLock { state in
            if state.isClosed { return .refused(.closed) }
            if state.count >= limit { return .refused(.busy) }
            state.waiting.append(work)
            return state.count > state.idle ? .waiting : .taken
        }
        if case .refused = admission { return admission }
        unsafe sem_post(arrivals)
        return admission
    }

    /// Blocks the calling thread until there is work; nil once the line is closed.
    func next() -> Work? {
        while true {
            state.withLock { $0.idle += 1 }
            while unsafe sem_wait(arrivals) != 0 {}
            let (work, isClosed) = state.withLock { state in
                state.idle -= 1
                return (state.take(), state.isClosed)
            }
            if let work { return work }
            if isClosed { return nil }
        }
    }

    /// Refuses what waits and lets the threads end.
    func close(threads: Int) {
        let left: [Work] = state.withLock { state in
            state.isClosed = true
            var left: [Work] = []
            while let work = state.take() { left.append(work) }
            return left
        }
        for _ in 0..<threads { unsafe sem_post(arrivals) }
        for work in left { work.refuse(.closed) }
    }
}

/// Why a request was not even begun.
enum Refusal: Sendable, Equatable {
    /// The queue is full.
    case busy
    case closed
    /// Also where the client closed while the request waited.
    case cancelled
    /// libcurl has no handle for it.
    case noHandle
}
