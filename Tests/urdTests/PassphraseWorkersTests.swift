import API
import Cryptography
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

private func turn(_ source: String = "a") -> PassphraseTurn {
    PassphraseTurn(source: source, target: "account")
}

/// Who was worked for, in order.
private final class Served: Sendable {
    private let sources = Mutex<[String]>([])

    var all: [String] { sources.withLock { $0 } }

    func note(_ source: String) { sources.withLock { $0.append(source) } }
}

@Suite struct `Passphrase workers` {
    @Test func `passphrase workers serve a second source within a turn of a saturating one`()
        async throws
    {
        let workers = PassphraseWorkers(.init(atOnce: 1, mostWaiting: 64, mostOfSource: 16))
        let (labour, served) = (Labour(), Served())
        func ask(_ source: String, _ target: String) -> Task<Void, any Error> {
            Task {
                try await workers.run(for: PassphraseTurn(source: source, target: target)) {
                    served.note(source)
                    labour.work()
                }
            }
        }
        var tasks = [ask("flood", "0")]
        while workers.running < 1 { try await Task.sleep(for: .milliseconds(1)) }
        for number in 1...16 { tasks.append(ask("flood", "\(number)")) }
        while workers.waiting < 16 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: PassphraseWorkers.Busy.self) { try await ask("flood", "17").value }
        tasks.append(ask("person", "ann"))
        while workers.waiting < 17 { try await Task.sleep(for: .milliseconds(1)) }
        labour.letGo()
        for task in tasks { try await task.value }
        #expect(Array(served.all.prefix(2)) == ["flood", "person"])
        #expect(served.all.count == 18)
    }

    @Test func `passphrase workers drop cancelled requests at once`() async throws {
        let workers = PassphraseWorkers(.init(atOnce: 1, mostWaiting: 1, mostOfSource: 1))
        let labour = Labour()
        let first = Task { try await workers.run(for: turn()) { labour.work() } }
        while workers.running < 1 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await workers.run(for: turn()) { labour.work() } }
        while workers.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(workers.waiting == 0)
        labour.letGo()
        try await first.value
        #expect(labour.count == 1)
    }

    @Test func `passphrase workers take as long for an unknown account as for the costliest hash`()
        throws
    {
        let cost = PassphraseCost()
        #expect(cost.own == .recommended && cost.forNobody() == .recommended)
        let cheap = try Scrypt.Parameters(cost: 16, blockSize: 1, parallelization: 1)
        let text = try Scrypt.hash(SecretBytes(Array("x".utf8)), parameters: cheap)
        #expect(cost.rest(after: text)?.parallelization == 3)
        let fast = Scrypt.Parameters.fitting(PassphraseCost.patience, lane: .milliseconds(40))
        cost.settle(on: fast)
        #expect(cost.own.parallelization == 6 && cost.forNobody() == fast)
        // A node that is faster still made this one.
        let dear = try Scrypt.hash(SecretBytes(Array("x".utf8)), parameters: .dearest)
        #expect(cost.rest(after: dear) == nil && cost.forNobody() == .dearest)
        #expect(cost.rest(after: text)?.parallelization == 8)
        #expect(cost.rest(after: "no text") == nil)
    }

    @Test func `passphrase workers do nothing for a request that was answered as overdue`()
        async throws
    {
        let workers = PassphraseWorkers(.init(atOnce: 1, mostWaiting: 8))
        let labour = Labour()
        let tasks = (0..<4).map { _ in
            Task { try await workers.run(for: turn()) { labour.work() } }
        }
        while workers.waiting < 3 { try await Task.sleep(for: .milliseconds(1)) }
        for task in tasks { task.cancel() }
        labour.letGo()
        for task in tasks { _ = await task.result }
        // One was worked for when they were called off.
        #expect(labour.count == 1)
        try await workers.run(for: turn()) { labour.work() }
        #expect(labour.count == 2)
    }

    @Test func `passphrase workers refuse requests when too many wait`() async throws {
        let workers = PassphraseWorkers(.init(atOnce: 1, mostWaiting: 1))
        let labour = Labour()
        let first = Task { try await workers.run(for: turn()) { labour.work() } }
        while workers.running < 1 { try await Task.sleep(for: .milliseconds(1)) }
        let second = Task { try await workers.run(for: turn()) { labour.work() } }
        while workers.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: PassphraseWorkers.Busy.self) {
            try await workers.run(for: turn()) { labour.work() }
        }
        labour.letGo()
        try await first.value
        try await second.value
        #expect(labour.count == 2)
    }
}
