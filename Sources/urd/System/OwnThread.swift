import Glibc

/// Runs what blocks on a thread of its own: the pool that runs tasks must never wait.
enum OwnThread {
    private final class Job: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
        let job = Unmanaged.passRetained(Job(body))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, ownThreadMain, job.toOpaque())
        guard code == 0 else {
            job.release()
            throw SystemFailure("start", "a thread", code: code)
        }
        pthread_detach(thread)
    }

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try start { continuation.resume(with: Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    fileprivate static func finish(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
    }
}

/// What C calls is a function of the file: a closure would belong to whichever actor wrote it.
private func ownThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    OwnThread.finish(context)
    return nil
}
