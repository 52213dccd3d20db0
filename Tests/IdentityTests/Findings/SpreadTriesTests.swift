import LogTesting
import Testing
import Values

@testable import Identity

@Suite struct `Tries that are spread over accounts` {
    private typealias Attempt = SpreadTries.Attempt

    @Test(arguments: 0..<200)
    func `tries that come and go are counted as if they were counted anew`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let most = Int.random(in: 1...4, using: &random)
        var spread = SpreadTries(mostPerAccount: most)
        var window: [Attempt] = []
        for _ in 0..<120 {
            if Bool.random(using: &random) || window.isEmpty {
                let attempt = Attempt(
                    account: UUID(high: 0, low: .random(in: 0..<6, using: &random)),
                    source: "source\(Int.random(in: 0..<4, using: &random))")
                window.append(attempt)
                spread.add(attempt)
            } else {
                spread.removeOldest(of: window.removeFirst().account)
            }
            let perAccount = Dictionary(grouping: window, by: \.account)
            let few = perAccount.filter { $0.value.count <= most }
            let tries = few.values.flatMap(\.self)
            #expect(spread.tries == tries.count)
            #expect(spread.accounts == few.count)
            #expect(Set(spread.fewAccounts) == Set(few.keys))
            #expect(
                spread.bySource == Dictionary(grouping: tries, by: \.source).mapValues(\.count))
            for account in perAccount.keys {
                #expect(spread.isFew(account) == (few[account] != nil))
            }
        }
        #expect(!spread.isFew(UUID(high: 9, low: 9)))
    }
}
