import Glibc
import Synchronization
import Testing

@testable import urd

/// Work that goes on until it is let go, and how often it was done.
private final class Labour: Sendable {
    private let isHeld = Atomic(true)
    private let times = Atomic(0)

    var count: Int { times.load(ordering: .sequentiallyConsistent) }

    func work() {
        while isHeld.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
        times.add(1, ordering: .sequentiallyConsistent)
    }

    func letGo() { isHeld.store(false, ordering: .sequentiallyConsistent) }
}

@Suite struct `Those who work on passphrases` {
    @Test func `do nothing for whoever was told meanwhile that it took too long`() async throws {
        let workers = PassphraseWorkers(atOnce: 1, mostWaiting: 8)
        let labour = Labour()
        let tasks = (0..<4).map { _ in
            Task { try await workers.run { labour.work() } }
        }
        while workers.waiting < 3 { try await Task.sleep(for: .milliseconds(1)) }
        for task in tasks { task.cancel() }
        labour.letGo()
        for task in tasks { _ = await task.result }
        // One was worked for when they were called off.
        #expect(labour.count == 1)
        try await workers.run { labour.work() }
        #expect(labour.count == 2)
    }

    @Test func `turn away whoever comes when too many wait`() async throws {
        let workers = PassphraseWorkers(atOnce: 1, mostWaiting: 1)
        let labour = Labour()
        let first = Task { try await workers.run { labour.work() } }
        while workers.running < 1 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await workers.run { labour.work() } }
        while workers.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: PassphraseWorkers.Busy.self) {
            try await workers.run { labour.work() }
        }
        labour.letGo()
        try await first.value
        try await second.value
        #expect(labour.count == 2)
    }
}
