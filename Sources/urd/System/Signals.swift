import Glibc

/// The signals that ask this process to stop, as a stream of values.
///
/// They are blocked in every thread and taken by one that waits for them: no code of ours runs in a
/// signal handler, where almost nothing is allowed.
enum Signals {
    static let stopping = [SIGINT, SIGTERM, SIGHUP]

    /// To be called before the first thread or task starts: threads inherit what is blocked.
    static func block() {
        var set = stoppingSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// A reader that went away is no reason for a server to end.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// Each signal that asks us to stop, from now on. One caller at a time.
    static func stops() throws(SystemFailure) -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        try OwnThread.start {
            var set = stoppingSet()
            while true {
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                if case .terminated = continuation.yield(number) { return }
            }
        }
        return stream
    }

    /// Undoes `block` for a command that is ended by Ctrl-C as any other program is.
    static func unblock() {
        var set = stoppingSet()
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    private static func stoppingSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in stopping { sigaddset(&set, number) }
        return set
    }
}
