import EventSourcing
import EventStore
import Testing

@Suite struct `Rests of who looks for work` {
    private let realm: RealmID

    init() throws { realm = try #require(RealmID("demo")) }

    /// Rests for ten minutes, if nothing ends it.
    private func rest(_ hub: CommitHub) -> Task<Void, any Error> {
        Task { try await hub.rest(.milliseconds(1), longest: .seconds(600)) }
    }

    private func stillHub() async throws -> CommitHub {
        let hub = CommitHub(stillness: .milliseconds(1))
        try await Task.sleep(for: .milliseconds(5))
        return hub
    }

    @Test func `a rest is short while a log moves`() async throws {
        let hub = CommitHub(stillness: .seconds(600))
        try await rest(hub).value
    }

    @Test func `a rest ends when a log moves, and when work came that moves none`() async throws {
        let hub = try await stillHub()
        for position in 1...20 as ClosedRange<Int64> {
            let resting = (0..<8).map { _ in rest(hub) }
            if position % 2 == 0 { try await Task.sleep(for: .milliseconds(2)) }
            // Those that begin to rest later than this find that nothing is still.
            let moving = Task {
                var next = position * 1_000
                while !Task.isCancelled {
                    next += 1
                    if position % 3 == 0 {
                        hub.stir()
                    } else {
                        hub.publish(Head(epoch: 1, position: next), of: realm)
                    }
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            for one in resting { try await one.value }
            moving.cancel()
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `a rest is not ended by a head that was known already`() async throws {
        let hub = try await stillHub()
        hub.publish(Head(epoch: 1, position: 7), of: realm)
        try await Task.sleep(for: .milliseconds(5))
        let resting = Task { try await hub.rest(.zero, longest: .milliseconds(300)) }
        let began = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(20))
        hub.publish(Head(epoch: 1, position: 7), of: realm)
        try await resting.value
        #expect(ContinuousClock.now - began >= .milliseconds(250))
    }

    @Test func `a rest that is cancelled ends with an error`() async throws {
        let resting = rest(try await stillHub())
        try await Task.sleep(for: .milliseconds(5))
        resting.cancel()
        await #expect(throws: CancellationError.self) { try await resting.value }
    }
}
