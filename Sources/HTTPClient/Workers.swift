internal import CCurl
internal import Glibc
internal import Synchronization
internal import Threads

/// A few threads, each with a handle of libcurl that keeps its connections, behind one bounded line. A
/// thread begins when there is work that no other is free for, and stays.
///
/// A transfer blocks its thread from beginning to end, hence these threads and not the cooperative
/// pool.
final class Workers: Sendable {
    private let line: WorkQueue
    private let limit: Int
    private let started = Mutex(Started())

    private struct Started {
        var threads = 0
        var isClosed = false
    }

    /// Nil when the system gives no thread, or libcurl cannot start.
    init?(threads: Int, limit: Int) {
        guard Library.isReady else { return nil }
        line = WorkQueue(limit: limit)
        self.limit = threads
        startOne()
        if started.withLock({ $0.threads == 0 }) { return nil }
    }

    private func startOne() {
        started.withLock { started in
            guard started.threads < limit, !started.isClosed else { return }
            let isStarted = Self.startThread { [line] in
                var handle = Handle()
                while let work = line.next() {
                    if handle == nil { handle = Handle() }
                    if let handle { work.run(handle).tell() } else { work.refuse(.noHandle) }
                }
            }
            if isStarted { started.threads += 1 }
        }
    }

    private static func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        do throws(DedicatedThread.Failure) {
            try DedicatedThread.start {
                blockBrokenPipes()
                work()
            }
            return true
        } catch {
            return false
        }
    }

    /// libcurl is told to leave signals alone (CURLOPT_NOSIGNAL): a peer that goes away in the middle of a
    /// TLS write must not end the process.
    private static func blockBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    deinit {
        close()
    }

    /// Waiting requests are refused; requests under way are finished.
    func close() {
        let threads = started.withLock { started in
            started.isClosed = true
            return started.threads
        }
        line.close(threads: threads)
    }

    var queueLength: Int { line.count }

    /// Does the work on one of the threads. Who is cancelled has the answer at once; the thread
    /// follows when libcurl next asks, within a second.
    func run<Value: Sendable, Problem: Error>(
        within limit: RequestLimit? = nil, refused: @escaping @Sendable (Refusal) -> Problem,
        goesOn: @escaping @Sendable (Result<Value, Problem>) -> Bool = { _ in true },
        _ body: @escaping @Sendable (Handle, Cancellation) -> Result<Value, Problem>
    ) async -> Result<Value, Problem> {
        let cancellation = Cancellation()
        let promise = Promise<Result<Value, Problem>>()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                promise.wait(continuation)
                let work = WorkQueue.Work(
                    run: { handle in
                        if cancellation.isAsked { return WorkQueue.Work.WorkOutcome() }
                        let result = body(handle, cancellation)
                        return WorkQueue.Work.WorkOutcome(goesOn: goesOn(result)) {
                            promise.fulfil(result)
                        }
                    },
                    refuse: { promise.fulfil(.failure(refused($0))) })
                switch limit?.admit(work, to: line) ?? line.join(work) {
                case .taken: break
                case .waiting: startOne()
                case .refused(let refusal): promise.fulfil(.failure(refused(refusal)))
                }
            }
        } onCancel: {
            cancellation.ask()
            promise.fulfil(.failure(refused(.cancelled)))
        }
    }
}

/// Whether the caller still wants the answer.
final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isAsked: Bool { flag.load(ordering: .relaxed) }

    func ask() {
        flag.store(true, ordering: .relaxed)
    }
}

/// The first value wins; it may come before a caller waits.
private final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, Never>?
        var early: Value?
        var isDone = false
    }

    private let state = Mutex(State())

    func wait(_ continuation: CheckedContinuation<Value, Never>) {
        let early = state.withLock { state -> Value? in
            if state.early == nil { state.continuation = continuation }
            return state.early
        }
        if let early { continuation.resume(returning: early) }
    }

    func fulfil(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard !state.isDone else { return nil }
            state.isDone = true
            if state.continuation == nil { state.early = value }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: value)
    }
}

/// libcurl as a whole: initialized once, by its first user.
enum Library {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
