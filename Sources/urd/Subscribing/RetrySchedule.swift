/// When a delivery that failed is tried again.
enum RetrySchedule {
    /// After the first attempt, the second and so on.
    static let pauses: [Duration] = [
        .seconds(5), .seconds(300), .seconds(1800), .seconds(7200), .seconds(18_000),
        .seconds(36_000), .seconds(50_400), .seconds(72_000), .seconds(86_400),
    ]
    static let attempts = pauses.count + 1
    static let longestRest: Duration = .seconds(86_400)

    /// Nil after the last attempt.
    /// - Parameters:
    ///   - attempts: how many failed.
    ///   - chance: 0..<1. Receivers that failed together are not called again together.
    ///   - asked: what the receiver asked for.
    static func pause(
        after attempts: Int, chance: Double, asked: Duration? = nil
    ) -> Duration? {
        guard (1...pauses.count).contains(attempts) else { return nil }
        let usual = pauses[attempts - 1] * (0.8 + 0.4 * chance)
        guard let asked else { return usual }
        return max(usual, min(asked, longestRest))
    }

    /// How long a receiver is left alone that could not be reached so many times. The delivery is never given up here.
    static func rest(
        after failures: Int, chance: Double, asked: Duration? = nil
    ) -> Duration {
        pause(after: min(max(1, failures), pauses.count), chance: chance, asked: asked)
            ?? longestRest
    }
}
