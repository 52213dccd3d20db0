import LogTesting
import Testing
import Values

@testable import EventSourcing

@Suite struct `The cache of folded streams` {
    let realm = ConformanceRealm.fresh()

    func counter(_ number: UInt64, version: Int = 1) -> Versioned<Counter> {
        Versioned(stream: UUID(high: 1, low: number), version: version, state: Counter())
    }

    @Test func `the state cache finds what was stored, by realm and type`() {
        let cache = StateCache(capacity: 10)
        cache.store(counter(1, version: 7), latest: nil, in: realm, epoch: 1)
        let stream = UUID(high: 1, low: 1)
        #expect(cache.find(Counter.self, stream, in: realm, epoch: 1)?.version == 7)
        #expect(cache.find(Counter.self, stream, in: ConformanceRealm.fresh(), epoch: 1) == nil)
        #expect(cache.find(OtherCounter.self, stream, in: realm, epoch: 1) == nil)
        cache.forget([stream], in: realm)
        #expect(cache.find(Counter.self, stream, in: realm, epoch: 1) == nil)
    }

    @Test
    func `the state cache finds nothing of another epoch and keeps nothing of an unknown one`() {
        let cache = StateCache(capacity: 10)
        let stream = UUID(high: 1, low: 1)
        cache.store(counter(1), latest: nil, in: realm, epoch: 1)
        #expect(cache.find(Counter.self, stream, in: realm, epoch: 2) == nil)
        cache.store(counter(1, version: 2), latest: nil, in: realm, epoch: 2)
        #expect(cache.find(Counter.self, stream, in: realm, epoch: 2)?.version == 2)
        #expect(cache.find(Counter.self, stream, in: realm, epoch: 1) == nil)
        cache.clear()
        cache.store(counter(1), latest: nil, in: realm, epoch: 0)
        #expect(cache.find(Counter.self, stream, in: realm, epoch: 0) == nil)
    }

    @Test func `the state cache stays within its bounds and keeps what is in use`() {
        let cache = StateCache(capacity: 10)
        let wanted = UUID(high: 1, low: 0)
        cache.store(counter(0), latest: nil, in: realm, epoch: 1)
        for number in 1...100 as ClosedRange<UInt64> {
            cache.store(counter(number), latest: nil, in: realm, epoch: 1)
            #expect(cache.find(Counter.self, wanted, in: realm, epoch: 1) != nil)
        }
        let kept = (0...100 as ClosedRange<UInt64>).count {
            cache.find(Counter.self, UUID(high: 1, low: $0), in: realm, epoch: 1) != nil
        }
        #expect(kept <= 12)
    }

    @Test func `the state cache moves a state by the events appended to it alone`() throws {
        let realm = try #require(RealmID("acme"))
        let cache = StateCache(capacity: 100)
        let (counter, other) = (UUID(high: 1, low: 1), UUID(high: 1, low: 2))
        cache.store(
            Versioned(stream: counter, version: 3, state: Counter(total: 5)), latest: nil,
            in: realm, epoch: 1)
        let raised = NewEvent(CounterEvent.raised(by: 2), in: counter)
        let closed = NewEvent(CounterEvent.closed, in: counter)
        cache.move(
            by: [raised, closed], at: testOrigin.at, from: [counter: 3, other: 0], in: realm,
            epoch: 1)
        let moved = try #require(cache.find(Counter.self, counter, in: realm, epoch: 1))
        #expect(moved.version == 5)
        #expect(moved.state.total == 7 && moved.state.isClosed)
        // Somebody read further meanwhile: that is not moved again.
        cache.move(by: [raised], at: testOrigin.at, from: [counter: 3], in: realm, epoch: 1)
        let same = try #require(cache.find(Counter.self, counter, in: realm, epoch: 1))
        #expect(same.version == 5 && same.state.total == 7)
        // What is behind what was read is not known any more.
        cache.move(by: [raised], at: testOrigin.at, from: [counter: 9], in: realm, epoch: 1)
        #expect(cache.find(Counter.self, counter, in: realm, epoch: 1) == nil)
    }

    @Test func `the state cache is empty after it was cleared`() {
        let cache = StateCache(capacity: 10)
        for number in 1...8 as ClosedRange<UInt64> {
            cache.store(counter(number), latest: nil, in: realm, epoch: 1)
        }
        cache.clear()
        for number in 1...8 as ClosedRange<UInt64> {
            let stream = UUID(high: 1, low: number)
            #expect(cache.find(Counter.self, stream, in: realm, epoch: 1) == nil)
        }
    }
}

private struct OtherCounter: StreamState {
    mutating func apply(_ event: CounterEvent) {}
}

extension StateCache {
    /// As a reader takes it: a state of another kind is none.
    fileprivate func find<State: StreamState>(
        _ type: State.Type, _ stream: UUID, in realm: RealmID, epoch: Int
    ) -> Versioned<State>? {
        guard let entry = find(stream, in: realm, epoch: epoch),
            let state = entry.state as? State
        else { return nil }
        return Versioned(stream: stream, version: entry.version, state: state)
    }
}
