import Testing
import Values

@testable import urd

@Suite struct `A time on the command line` {
    private static let now = Timestamp(rfc3339: "2026-03-01T12:30:00Z") ?? Timestamp(seconds: 0)

    @Test(arguments: [
        ("today", "2026-03-01"), ("yesterday", "2026-02-28"), ("Yesterday", "2026-02-28"),
        ("now", "2026-03-01T12:30:00.000000Z"), ("24h", "2026-02-28T12:30:00.000000Z"),
        ("7d", "2026-02-22T12:30:00.000000Z"), ("2 hours ago", "2026-03-01T10:30:00.000000Z"),
        ("2 hours", "2026-03-01T10:30:00.000000Z"),
        ("1 hour ago", "2026-03-01T11:30:00.000000Z"), ("90m", "2026-03-01T11:00:00.000000Z"),
        ("30 min ago", "2026-03-01T12:00:00.000000Z"), ("1w", "2026-02-22T12:30:00.000000Z"),
        ("2026-02-28", "2026-02-28"), ("2026-02-28T01:02:03Z", "2026-02-28T01:02:03Z"),
        ("2026-02-28T01:02:03+01:00", "2026-02-28T01:02:03+01:00"),
    ])
    func `a time on the command line is read from a day or an instant`(text: String, time: String) {
        #expect(TimeWords.read(text, now: Self.now) == time)
    }

    @Test(arguments: [
        "", "ago", "tomorrow", "h", "-1h", "1.5h", "24", "24x", "hours 2", "2026-02-30",
        "2026-2-3", "99999999999999999999h", "999999999h",
    ])
    func `an invalid time on the command line is refused`(text: String) {
        #expect(TimeWords.read(text, now: Self.now) == nil)
    }
}
