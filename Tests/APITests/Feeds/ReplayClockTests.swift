import Testing
import Values

@testable import API

@Suite struct `The clock of a replay` {
    private func waits(
        _ times: [Int64], speed: Int64 = 60, longestGap: Duration = .seconds(2)
    ) -> [Duration] {
        var clock = ReplayClock(speed: speed, longestGap: longestGap)
        return times.map { clock.pause(before: Timestamp(microseconds: $0)) }
    }

    @Test func `a replay waits what lay between two events, so many times as fast`() {
        #expect(waits([5, 60_000_005, 90_000_005]) == [.zero, .seconds(1), .milliseconds(500)])
        #expect(waits([0, 1_500_000], speed: 1) == [.zero, .milliseconds(1_500)])
    }

    @Test func `a replay waits no longer than it may, and for nothing at speed 0`() {
        #expect(waits([0, 86_400_000_000]) == [.zero, .seconds(2)])
        #expect(waits([0, 86_400_000_000], longestGap: .zero) == [.zero, .zero])
        #expect(waits([0, 86_400_000_000], speed: 0) == [.zero, .zero])
    }

    /// A node whose clock is behind wrote the second one.
    @Test func `an event of an earlier time comes at once, and delays none behind it`() {
        #expect(
            waits([60_000_000, 0, 60_000_000, 120_000_000]) == [
                .zero, .zero, .zero, .seconds(1),
            ])
    }

    @Test func `the time of a replay runs to the event that it waits for`() {
        var clock = ReplayClock(speed: 60, longestGap: .seconds(9))
        #expect(clock.time(left: .zero) == nil)
        _ = clock.pause(before: Timestamp(seconds: 100))
        _ = clock.pause(before: Timestamp(seconds: 220))
        #expect(clock.time(left: .seconds(1)) == Timestamp(seconds: 160))
        #expect(clock.time(left: .zero) == Timestamp(seconds: 220))
    }
}
