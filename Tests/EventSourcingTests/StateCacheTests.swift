import LogTesting
import Testing
import Values

@testable import EventSourcing

@Suite struct `The cache of folded streams` {
    let realm = ConformanceRealm.fresh()

    func counter(_ number: UInt64, version: Int = 1) -> Versioned<Counter> {
        Versioned(stream: UUID(high: 1, low: number), version: version, state: Counter())
    }

    @Test func `finds what was stored, in its realm and by its type`() {
        let cache = StateCache(capacity: 10)
        cache.store(counter(1, version: 7), in: realm)
        let stream = UUID(high: 1, low: 1)
        #expect(cache.find(Counter.self, stream, in: realm)?.version == 7)
        #expect(cache.find(Counter.self, stream, in: ConformanceRealm.fresh()) == nil)
        #expect(cache.find(OtherCounter.self, stream, in: realm) == nil)
        cache.forget([stream], in: realm)
        #expect(cache.find(Counter.self, stream, in: realm) == nil)
    }

    @Test func `stays within its bounds and keeps what is in use`() {
        let cache = StateCache(capacity: 10)
        let wanted = UUID(high: 1, low: 0)
        cache.store(counter(0), in: realm)
        for number in 1...100 as ClosedRange<UInt64> {
            cache.store(counter(number), in: realm)
            #expect(cache.find(Counter.self, wanted, in: realm) != nil)
        }
        let kept = (0...100 as ClosedRange<UInt64>).count {
            cache.find(Counter.self, UUID(high: 1, low: $0), in: realm) != nil
        }
        #expect(kept <= 12)
    }

    @Test func `is empty after it was cleared`() {
        let cache = StateCache(capacity: 10)
        for number in 1...8 as ClosedRange<UInt64> { cache.store(counter(number), in: realm) }
        cache.clear()
        for number in 1...8 as ClosedRange<UInt64> {
            #expect(cache.find(Counter.self, UUID(high: 1, low: number), in: realm) == nil)
        }
    }
}

private struct OtherCounter: StreamState {
    mutating func apply(_ event: CounterEvent) {}
}
