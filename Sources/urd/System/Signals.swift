import Glibc
import Synchronization

/// The signals that ask this process to stop, as a stream of values.
///
/// They are blocked in every thread and taken by one that waits for them: no code of ours runs in a
/// signal handler, where almost nothing is allowed. Until a caller asks for the stream they end the
/// process, as they end any other program.
enum Signals {
    private static let listener = Mutex<AsyncStream<Int32>.Continuation?>(nil)

    /// To be called before the first task starts: threads inherit what is blocked.
    static func block() {
        var set = stoppingSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// What the first thread does for the rest of its life.
    static func waitForever() -> Never {
        var set = stoppingSet()
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            if let listener = listener.withLock({ $0 }) {
                listener.yield(number)
            } else {
                endProcess(by: number)
            }
        }
    }

    /// Each signal that asks us to stop, from now on; there is one listener.
    static func stops() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        listener.withLock { $0 = continuation }
        return stream
    }

    /// A reader that went away is no reason for a server to end.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the process as the signal would have. Sent to this thread: sent to the process, the thread that waits for
    /// signals may take it.
    static func endProcess(by number: Int32) {
        signal(number, SIG_DFL)
        var set = stoppingSet()
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }

    private static func stoppingSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM] { sigaddset(&set, number) }
        if !survivesTerminal { sigaddset(&set, SIGHUP) }
        return set
    }

    /// Whether `nohup` started us: it ignores SIGHUP, but a signal that is blocked is kept even so.
    private static let survivesTerminal: Bool = {
        let status = (try? File.text("/proc/self/status")) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") }
        let mask = line.flatMap { UInt64($0.dropFirst(7).drop(while: \.isWhitespace), radix: 16) }
        return (mask ?? 0) & (1 << UInt64(SIGHUP - 1)) != 0
    }()
}
