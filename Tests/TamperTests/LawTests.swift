import EventStore
import Laws
import Testing

@Suite struct `Laws in a verification` {
    @Test
    func `a log that is intact is held against the laws from the first position that is read`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        #expect(try await log.verifier.verify(log.realm).laws == nil)

        let whole = try await log.verifier.verify(log.realm, holdsLaws: true)
        let laws = try #require(whole.laws)
        #expect(whole.isIntact && (laws.first, laws.last) == (1, 700))
        // No stream of the application begins with the events of this log.
        #expect(!laws.isLawful)
        #expect(laws.violations.map(\.law) == Array(repeating: 2, count: 7))
        #expect(laws.violations.map(\.position) == Array(1...7))
        #expect(laws.verdicts.filter { $0.number == 40 }.map(\.asked) == [Int64(whole.checkpoints)])

        let end = try await log.verifier.verify(log.realm, from: 650, holdsLaws: true)
        let ofEnd = try #require(end.laws)
        #expect((ofEnd.first, ofEnd.last, ofEnd.isLawful) == (601, 700, true))
        #expect(ofEnd.verdicts.filter { $0.number == 2 }.map(\.unknown) == [7])
    }
}
