import Glibc
import Synchronization
import Threads

/// The running server process of a cluster, and the thread that waits for its end.
///
/// How it is tied to us: the kernel sends it a fast shutdown (SIGINT) when we die, also from
/// `kill -9`, because `PR_SET_PDEATHSIG` needs no cooperation from the dying. The "parent" of that
/// call is a thread and not a process, so the thread that starts the server also waits for it.
final class Postmaster: Sendable {
    private struct State {
        var ending: ChildProcess.Ending?
        var waiting: [CheckedContinuation<ChildProcess.Ending, Never>] = []
    }

    let process: pid_t
    private let state: Mutex<State>

    private init(process: pid_t) {
        self.process = process
        state = Mutex(State())
    }

    static func start(_ program: ChildProcess) async throws -> Postmaster {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try DedicatedThread.start {
                    let postmaster: Postmaster
                    do throws(SystemFailure) {
                        postmaster = Postmaster(process: try program.start())
                    } catch {
                        return continuation.resume(throwing: error)
                    }
                    continuation.resume(returning: postmaster)
                    postmaster.finish(ChildProcess.wait(for: postmaster.process))
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private func finish(_ ending: ChildProcess.Ending) {
        let waiting = state.withLock { state in
            state.ending = ending
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume(returning: ending) }
    }

    var ending: ChildProcess.Ending? { state.withLock { $0.ending } }

    /// Waits for the end of PostgreSQL, for any reason.
    func end() async -> ChildProcess.Ending {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }

    /// A fast shutdown, which loses nothing; at once (no checkpoint, recovery at the next start)
    /// when that takes too long.
    func stop(within patience: Duration = .seconds(20)) async {
        for (signal, patience) in [
            (SIGINT, patience), (SIGQUIT, .seconds(5)), (SIGKILL, .seconds(5)),
        ] {
            if ending != nil { return }
            kill(process, signal)
            if await ends(within: patience) { return }
        }
    }

    private func ends(within patience: Duration) async -> Bool {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            if ending != nil { return true }
            // Not cancelled by our own end: stopping is what we do then.
            await Task.detached { try? await Task.sleep(for: .milliseconds(10)) }.value
        }
        return ending != nil
    }
}
