import Identity
import LogTesting
import Testing
import Values

extension Session {
    enum Place {
        case leaf
        case parent
    }

    /// The numbers by which the leaf or its parent goes.
    func names(of place: Place, _ leeway: Int64) -> Set<Int> {
        let (first, twin) =
            place == .leaf ? (generation, leafTwin) : (parent ?? -1, parentTwin)
        guard let twin,
            2 * (twin.replacedAt.seconds - twin.repeatedAt.seconds) <= 3 * leeway
        else {
            return [first]
        }
        return [first, twin.generation]
    }
}

/// Two windows of one client that show what they have at about the same time, and keep each what it got.
@Suite struct `Two copies of a refresh` {
    private static let leeway: Int64 = 10

    private func moment(_ seconds: Int64, _ microseconds: Int64 = 0) -> Timestamp {
        noon.adding(seconds: seconds).adding(microseconds: microseconds)
    }

    /// Around the end of the leeway, and around the end of one that began anew by a repeat in its second half.
    @Test(arguments: [0, 1, 1_000, 1_000_000, 4_000_000] as [Int64])
    func `two copies of a refresh around the end of a leeway sign nobody out`(gap: Int64)
        async throws
    {
        let ends: [(repeats: [Int64], end: Int64)] = [
            ([], 10), ([9], 19), ([10], 20), ([6, 10], 16),
        ]
        for (repeats, end) in ends {
            for fraction in [0, 1, 999_999] as [Int64] {
                for (edge, isFirstFirst) in (end - 1...end + 2).flatMap({
                    [($0, true), ($0, false)]
                }) {
                    let family = try Family()
                    for time in [0] + repeats {
                        #expect(
                            try await family.refresh(0, by: nil, at: moment(time, fraction)) == 1)
                    }
                    var kept: [Int] = []
                    for now in [moment(edge, -1), moment(edge, gap)] {
                        kept.append(try #require(try await family.refresh(0, by: nil, at: now)))
                    }
                    // Each shows what it got: both have the same next one.
                    let (first, second) = isFirstFirst ? (0, 1) : (1, 0)
                    let next = try await family.refresh(kept[first], by: nil, at: moment(900))
                    let same = try await family.refresh(kept[second], by: nil, at: moment(900, gap))
                    #expect(next != nil && next == same, "\(kept) at \(edge)")
                }
            }
        }
    }

    @Test func `two copies of a refresh get tokens that go on, whenever they come`() async throws {
        var twins = 0
        for seed in 0..<3000 {
            var random = SeededRandom(seed: UInt64(seed))
            let family = try Family()
            var (windows, now) = ([0, 0], noon)
            for _ in 0..<20 {
                var answers: [Int] = []
                let order = Bool.random(using: &random) ? [0, 1] : [1, 0]
                var given = windows
                for window in order {
                    let answer = try await family.refresh(windows[window], by: nil, at: now)
                    answers.append(try #require(answer, "seed \(seed) at \(now)"))
                    given[window] = answers[answers.count - 1]
                    if window == order[0] { now = now.adding(microseconds: Family.gap(&random)) }
                }
                try #require(family.state.names(of: .leaf, Self.leeway).isSuperset(of: answers))
                if answers[0] != answers[1] { twins += 1 }
                if Int.random(in: 0..<100, using: &random) < 40 { windows = given }
                now = family.pause(after: now, &random)
            }
            try #require(family.state.end == nil, "seed \(seed)")
        }
        #expect(twins > 100)
    }
}
