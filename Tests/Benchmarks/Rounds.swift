/// A figure and its limit, measured in turns so that both meet the same weather.
struct Rounds: Sendable {
    let values: [Double]
    let limits: [Double]

    /// The round whose ratio is in the middle.
    var median: (value: Double, limit: Double) {
        let sorted = zip(values, limits).sorted { $0.0 * $1.1 < $1.0 * $0.1 }
        return sorted.isEmpty ? (0, 0) : sorted[sorted.count / 2]
    }

    /// The middle of each by itself, where the bar is for the value alone.
    var medians: (value: Double, limit: Double) { (values.median, limits.median) }

    static func run(
        _ count: Int, _ progress: Progress, value: () async throws -> Double,
        limit: () async throws -> Double
    ) async throws -> Rounds {
        var values: [Double] = []
        var limits: [Double] = []
        for round in 0..<count {
            // Who goes first changes, so that neither always has the other's leftovers to bear.
            if round % 2 == 0 {
                values.append(try await value())
                limits.append(try await limit())
            } else {
                limits.append(try await limit())
                values.append(try await value())
            }
            progress.advance("\(spoken(values.median)) beside \(spoken(limits.median))")
        }
        return Rounds(values: values, limits: limits)
    }
}

extension [Double] {
    var median: Double { percentile(0.5) }

    func percentile(_ share: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(count - 1, Int(Double(count) * share))]
    }
}
