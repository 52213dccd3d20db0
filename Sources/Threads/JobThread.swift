internal import Glibc
internal import Synchronization

/// One thread that runs the jobs of tasks that prefer it, in turn. For much that waits for each other and takes
/// little time: what wakes many of them wakes one thread, and between them there is no hand-over.
@safe public final class JobThread: TaskExecutor, @unchecked Sendable {
    private let waiting = Mutex<[UnownedJob]>([])
    /// Semaphore, posted when the first job arrives.
    private let arrivals = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// It lasts as long as the process.
    public init() {
        unsafe arrivals.initialize(to: sem_t())
        unsafe precondition(sem_init(arrivals, 0, 0) == 0, "A semaphore can be made.")
        DedicatedThread.startRequired { self.run() }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = waiting.withLock { waiting in
            waiting.append(job)
            return waiting.count == 1
        }
        if isFirst { unsafe sem_post(arrivals) }
    }

    private func run() -> Never {
        while true {
            while unsafe sem_wait(arrivals) != 0 {}
            let jobs = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
