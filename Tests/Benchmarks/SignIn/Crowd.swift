import Glibc
import Synchronization
import Threads

/// So many callers at once, each with a connection and a thread of its own, doing one thing again and
/// again.
struct Crowd: Sendable {
    struct Result {
        let perSecond: Double
        /// Of each thing that was done, in milliseconds.
        let latencies: [Double]
    }

    let callers: Int

    /// - Parameter work: makes a caller, which does the thing once each time it is called.
    func run(
        seconds: Double, _ work: @escaping @Sendable (Int) throws -> (() throws -> Void)
    ) async throws -> Result {
        let isOver = { @Sendable (start: ContinuousClock.Instant, _: Int) in
            ContinuousClock.now - start >= .seconds(seconds)
        }
        return try await run(until: isOver) {
            let act = try work($0)
            return { _ in try act() }
        }
    }

    /// So many times each.
    /// - Parameter work: makes a caller, which is told how many times it did the thing before.
    func run(
        times: Int, _ work: @escaping @Sendable (Int) throws -> ((Int) throws -> Void)
    ) async throws -> Result {
        try await run(until: { _, done in done >= times }, work)
    }

    /// At most so many times each: all stop with the first who is through, so that no caller is
    /// measured while others rest.
    func run(
        upTo times: Int, _ work: @escaping @Sendable (Int) throws -> ((Int) throws -> Void)
    ) async throws -> Result {
        let isThrough = Atomic(false)
        return try await run(
            until: { _, done in
                if done >= times { isThrough.store(true, ordering: .relaxed) }
                return isThrough.load(ordering: .relaxed)
            }, work)
    }

    private func run(
        until isOver: @escaping @Sendable (ContinuousClock.Instant, Int) -> Bool,
        _ work: @escaping @Sendable (Int) throws -> ((Int) throws -> Void)
    ) async throws -> Result {
        let state = Mutex<(latencies: [Double], failure: String?, left: Int)>(([], nil, callers))
        let start = ContinuousClock.now
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        for caller in 0..<callers {
            DedicatedThread.startRequired {
                var own: [Double] = []
                var failure: String?
                do {
                    let act = try work(caller)
                    while !isOver(start, own.count) {
                        let begun = ContinuousClock.now
                        try act(own.count)
                        own.append((ContinuousClock.now - begun) / .milliseconds(1))
                    }
                } catch {
                    failure = "\(error)"
                }
                let left = state.withLock { state in
                    state.latencies += own
                    state.failure = state.failure ?? failure
                    state.left -= 1
                    return state.left
                }
                if left == 0 { finish.finish() }
            }
        }
        for await _ in done {}
        let took = (ContinuousClock.now - start) / .seconds(1)
        return try state.withLock { state in
            if let failure = state.failure { throw BenchmarkFailure(failure) }
            return Result(
                perSecond: Double(state.latencies.count) / took, latencies: state.latencies)
        }
    }
}
