import Glibc
import Synchronization
import Testing
import Threads

@Suite("Job threads")
struct JobThreadTests {
    @Test(
        "Tasks that prefer a job thread go on there after each wait, whoever woke them",
        .timeLimit(.minutes(1)))
    func stay() async {
        let executor = JobThread()
        let threads = Mutex<Set<UInt>>([])
        let done = Atomic(0)
        @Sendable func note() { threads.withLock { _ = $0.insert(UInt(pthread_self())) } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask(executorPreference: executor) {
                    for step in 0..<20 {
                        note()
                        switch step % 3 {
                        case 0: await Task.yield()
                        case 1: try? await Task.sleep(for: .microseconds(100))
                        default:
                            await withCheckedContinuation { continuation in
                                DedicatedThread.startRequired { continuation.resume() }
                            }
                        }
                    }
                    note()
                    done.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(done.load(ordering: .relaxed) == 50)
        #expect(threads.withLock { $0.count } == 1)
    }
}
