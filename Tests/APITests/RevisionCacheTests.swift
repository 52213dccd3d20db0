import EventSourcing
import Synchronization
import Testing

@testable import API

@Suite struct `A cache by revision` {
    /// What is read, how often it was, and how many readings run.
    private final class Origin: Sendable {
        struct State {
            var revision: Int64 = 0
            var readings = 0
            var running = 0
            var most = 0
            var failure: LogFailure?
        }

        let state = Mutex(State())

        var revision: Int64 { state.withLock { $0.revision } }

        var readings: Int { state.withLock { $0.readings } }

        var most: Int { state.withLock { $0.most } }

        func move() { state.withLock { $0.revision += 1 } }

        func fail(_ failure: LogFailure?) { state.withLock { $0.failure = failure } }

        /// Gives the revision that held when it began.
        func read() async throws(LogFailure) -> Int64 {
            let (value, failure) = state.withLock { state in
                state.readings += 1
                state.running += 1
                state.most = max(state.most, state.running)
                return (state.revision, state.failure)
            }
            for _ in 0..<5 { await Task.yield() }
            state.withLock { $0.running -= 1 }
            if let failure { throw failure }
            return value
        }
    }

    private let origin = Origin()

    private func ask(
        _ cache: RevisionCache<Int, Int64>, _ key: Int = 0
    ) async throws(LogFailure) -> Int64 {
        let origin = origin
        return try await cache.value(
            of: key, at: { origin.revision },
            read: { () throws(LogFailure) in try await origin.read() })
    }

    @Test func `a cache by revision reads once per revision`() async throws {
        let cache = RevisionCache<Int, Int64>(capacity: 4)
        for turn in 0..<5 as Range<Int64> {
            for _ in 0..<10 { #expect(try await ask(cache) == turn) }
            #expect(origin.readings == Int(turn) + 1)
            origin.move()
        }
    }

    @Test func `a cache by revision keeps no failure, and no value from before a failure`()
        async throws
    {
        let cache = RevisionCache<Int, Int64>(capacity: 4)
        _ = try await ask(cache)
        origin.move()
        origin.fail(.unavailable)
        await #expect(throws: LogFailure.unavailable) { try await ask(cache) }
        origin.fail(nil)
        #expect(try await ask(cache) == 1)
    }

    @Test func `a cache by revision keeps a bounded number of entries`() async throws {
        let cache = RevisionCache<Int, Int64>(capacity: 16)
        for key in 0..<1000 { _ = try await ask(cache, key) }
        #expect(cache.count == 16)
        #expect(origin.readings == 1000)
    }

    @Test(arguments: [1, 2, 64])
    func `a cache by revision is never older than the request, and reads once per key at a time`(
        _ capacity: Int
    ) async throws {
        let cache = RevisionCache<Int, Int64>(capacity: capacity)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for asker in 0..<16 {
                group.addTask {
                    for turn in 0..<200 {
                        // Out of step with each other: some come while a reading runs.
                        for _ in 0..<(asker + turn) % 11 { await Task.yield() }
                        if (asker + turn).isMultiple(of: 7) { origin.move() }
                        let before = origin.revision
                        let value = try await ask(cache, capacity == 2 ? turn % 3 : 0)
                        #expect(value >= before)
                    }
                }
            }
            try await group.waitForAll()
        }
        if capacity == 64 {
            #expect(origin.most == 1)
            #expect(origin.readings < 16 * 200)
        }
    }
}
