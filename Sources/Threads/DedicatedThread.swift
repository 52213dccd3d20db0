internal import Glibc

/// A thread made for work that blocks, because the cooperative pool never may: the one place that calls
/// `pthread_create`.
public enum DedicatedThread {
    /// The system has no thread to spare. `code` is the error number of `pthread_create`.
    public struct Failure: Error, Equatable, CustomStringConvertible {
        public let code: Int32

        public var description: String { "no thread can be started (errno \(code))" }
    }

    /// Much of what Urd keeps running needs little room; the system's own size is 8 MiB.
    public enum StackSize: Sendable {
        case system
        case oneMebibyte
    }

    public static func start(
        stack: StackSize = .system, _ work: @escaping @Sendable () -> Void
    ) throws(Failure) {
        let context = unsafe Unmanaged.passRetained(Work(work)).toOpaque()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if stack == .oneMebibyte { unsafe pthread_attr_setstacksize(&attributes, 1 << 20) }
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, &attributes, runWork, context)
        guard code == 0 else {
            unsafe Unmanaged<Work>.fromOpaque(context).release()
            throw Failure(code: code)
        }
    }

    /// For the few threads without which nothing can go on.
    public static func startRequired(_ work: @escaping @Sendable () -> Void) {
        do throws(Failure) {
            try start(stack: .oneMebibyte, work)
        } catch {
            preconditionFailure("A thread can be started.")
        }
    }

    /// Waits for the result without blocking the caller's thread.
    public static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do throws(Failure) {
                try start { continuation.resume(with: Result { try work() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Blocks the thread that calls it: only for a dedicated one.
    public static func sleep(milliseconds: Int) {
        usleep(UInt32(milliseconds) * 1000)
    }
}

private final class Work: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// A function of the file, because C calls it: a closure would belong to the actor that wrote it.
private func runWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
