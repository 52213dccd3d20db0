import Glibc
import Synchronization
import Testing
import Threads

@Suite(.timeLimit(.minutes(1))) struct `Job threads` {
    private final class Seen: Sendable {
        let threads = Mutex<Set<UInt>>([])
        let done = Atomic(0)

        func note() { threads.withLock { _ = $0.insert(UInt(pthread_self())) } }
    }

    @Test
    func `tasks that prefer a job thread go on there after each wait`()
        async
    {
        let (executor, seen) = (JobThread(), Seen())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask(executorPreference: executor) {
                    for step in 0..<21 {
                        seen.note()
                        switch step % 3 {
                        case 0: await Task.yield()
                        case 1: try? await Task.sleep(for: .microseconds(100))
                        default:
                            await withCheckedContinuation { continuation in
                                DedicatedThread.startRequired { continuation.resume() }
                            }
                        }
                        seen.note()
                    }
                    seen.done.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(seen.done.load(ordering: .relaxed) == 50)
        #expect(seen.threads.withLock { $0.count } == 1)
    }
}
