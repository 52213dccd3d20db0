import PostgresTesting
import Testing

@testable import urd

@Suite struct `Leadership among several nodes` {
    private let address = TestCluster.shared.address("postgres", "postgres")

    @Test func `a leader that is silent for its term loses the lease to another node`()
        async throws
    {
        let term = Duration.seconds(5)
        let frozen = Leadership(of: "frozen", at: address, term: term)
        let other = Leadership(of: "frozen", at: address, term: term)
        // Where the machine holds the test up, part of the term is over at the next line.
        let began = ContinuousClock.now
        var isEarly: Bool { ContinuousClock.now - began < term / 2 }
        #expect(await frozen.isHeld())
        #expect(frozen.isCertain || !isEarly)
        let isOthers = await other.isHeld()
        #expect(!isOthers && !other.isCertain || !isEarly)
        while await !other.isHeld() {
            try #require(ContinuousClock.now - began < .seconds(60), "it never gets it")
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(ContinuousClock.now - began > term * 2 / 3)
        #expect(other.isCertain)
        // It knows before it asks, and then competes like all others.
        #expect(!frozen.isCertain)
        #expect(await !frozen.isHeld())
    }

    @Test func `a leader that renews keeps the lease`() async throws {
        let term = Duration.seconds(2)
        let first = Leadership(of: "asking", at: address, term: term)
        let other = Leadership(of: "asking", at: address, term: term)
        #expect(await first.isHeld())
        let began = ContinuousClock.now
        while ContinuousClock.now - began < term * 2 {
            #expect(await first.isHeld())
            #expect(await !other.isHeld())
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func `a leader whose session ended learns it at the next renewal`() async throws {
        let first = Leadership(of: "ended", at: address, term: .milliseconds(300))
        #expect(await first.isHeld())
        try await Task.sleep(for: .milliseconds(600))
        #expect(!first.isCertain)
        #expect(await first.isHeld())
    }
}
