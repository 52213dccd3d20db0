import EventSourcing
import ReadModels
import Testing
import Values

@testable import urd

@Suite struct `Work in flight` {
    private let entries = (1...200).map {
        DueWork.Entry(realm: .system, id: UUID(high: 1, low: $0), position: Int64($0))
    }

    @Test func `work in flight is bounded and has each item once`() {
        var work = InFlightWork(limit: 64)
        #expect(work.take(entries) == Array(entries[..<64]))
        #expect(work.take(entries).isEmpty)
        work.settle(entries[3], until: .now + .seconds(60))
        #expect(work.take(entries) == [entries[64]])
    }

    @Test func `work in flight that is done makes room for what waits`() {
        var work = InFlightWork(limit: 64)
        let now = ContinuousClock.now
        var taken: [DueWork.Entry] = []
        // The read model has seen none of the records yet.
        while taken.count < entries.count {
            let due = entries.prefix(work.enough(at: now))
            let fresh = work.take(Array(due))
            #expect(!fresh.isEmpty)
            if fresh.isEmpty { break }
            for entry in fresh { work.settle(entry, until: now + .seconds(60)) }
            taken += fresh
        }
        #expect(taken == entries)
    }

    @Test func `work in flight is released when its time is over`() {
        var work = InFlightWork(limit: 64)
        let now = ContinuousClock.now
        _ = work.take([entries[0], entries[1]])
        work.settle(entries[0], until: now + .seconds(1))
        work.settle(entries[1], until: now + .seconds(60))
        #expect(work.enough(at: now) == 66)
        #expect(work.take(Array(entries[..<2])).isEmpty)
        #expect(work.enough(at: now + .seconds(2)) == 65)
        #expect(work.take(Array(entries[..<2])) == [entries[0]])
    }
}
