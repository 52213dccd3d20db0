import Testing
import Values

@testable import urd

@Suite struct `Deliveries of one subscription` {
    let now = Timestamp(seconds: 1000)

    private func lane(_ number: UInt64) -> UUID { UUID(high: 1, low: number) }

    private func queue(
        _ lanes: [UInt64], most: Int = 8, record: inout DeliveryQueue.Record
    ) -> DeliveryQueue {
        var queue = DeliveryQueue(position: 0, most: most)
        for (index, number) in lanes.enumerated() {
            queue.take(
                Int64(index + 1), lane: lane(number), type: "a.b", isWanted: number != 0,
                now: now, &record)
        }
        return queue
    }

    @Test func `what is not wanted moves the cursor`() {
        var record = DeliveryQueue.Record()
        let queue = queue([0, 0, 0], record: &record)
        #expect(queue.position == 3)
    }

    @Test
    func `what is earlier in the log is parked before what waits, not before what is under way`() {
        for isStarted in [false, true] {
            var record = DeliveryQueue.Record()
            let waiting = DeliveryQueue.Parked(
                position: 3, lane: lane(1), type: "a.b", attempts: 1, isReplay: false, due: now)
            var queue = DeliveryQueue(position: 0, parked: [waiting], most: 8)
            var order = isStarted ? queue.start(at: now) : []
            for position in 1...2 as ClosedRange<Int64> {
                queue.take(
                    position, lane: lane(1), type: "a.b", isWanted: true, now: now, &record)
            }
            for _ in 0..<3 {
                order += queue.start(at: now)
                if let last = order.last { queue.settle(last, &record) }
            }
            #expect(order.map(\.position) == (isStarted ? [3, 1, 2] : [1, 2, 3]))
        }
    }

    @Test func `what is delivered above a hole is told, and what is not wanted is not`() {
        var record = DeliveryQueue.Record()
        var queue = queue([1, 0, 2, 0, 3], record: &record)
        for item in queue.start(at: now).dropFirst() { queue.settle(item, &record) }
        #expect(queue.position == 0)
        #expect(queue.doneAbove == [3, 5])
        // Who takes it in hand reads on from there, and delivers none of them again.
        var later = DeliveryQueue(position: queue.position, done: queue.doneAbove, most: 8)
        for (index, number) in [1, 0, 2, 0, 3].enumerated() as EnumeratedSequence<[UInt64]> {
            later.take(
                Int64(index + 1), lane: lane(number), type: "a.b", isWanted: number != 0,
                now: now, &record)
        }
        #expect(later.start(at: now).map(\.position) == [1])
        #expect(later.doneAbove == [3, 5])
    }

    @Test func `what is passed over is as what is not wanted, wherever it stands`() {
        for _ in 0..<200 {
            var record = DeliveryQueue.Record()
            var passing = DeliveryQueue(position: 0, most: 4)
            var taking = passing
            var underWay: [DeliveryQueue.Item] = []
            var next: Int64 = 1
            for _ in 0..<60 {
                switch Int.random(in: 0..<4) {
                case 0:
                    let last = next + .random(in: 0..<5)
                    passing.pass(through: last)
                    for position in next...last {
                        taking.take(
                            position, lane: lane(9), type: "c.d", isWanted: false, now: now, &record
                        )
                    }
                    next = last + 1
                case 1:
                    let lane = lane(.random(in: 1...3))
                    passing.take(
                        next, lane: lane, type: "a.b", isWanted: true, now: now, &record)
                    taking.take(next, lane: lane, type: "a.b", isWanted: true, now: now, &record)
                    next += 1
                case 2:
                    let started = passing.start(at: now)
                    #expect(started == taking.start(at: now))
                    underWay += started
                default:
                    guard let item = underWay.randomElement() else { continue }
                    underWay.removeAll { $0 == item }
                    passing.settle(item, &record)
                    taking.settle(item, &record)
                }
                #expect(passing.position == taking.position)
                #expect(passing.next == taking.next)
                #expect(passing.doneAbove == taking.doneAbove)
                #expect(passing.hasWork == taking.hasWork)
            }
            // What was read already is not passed again.
            passing.pass(through: next - 1)
            #expect(passing.next == next)
        }
    }

    @Test func `one of each lane is under way, in order`() {
        var record = DeliveryQueue.Record()
        var queue = queue([1, 1, 2], record: &record)
        let first = queue.start(at: now)
        #expect(first.map(\.position) == [1, 3])
        #expect(queue.start(at: now).isEmpty)
        queue.settle(first[1], &record)
        #expect(queue.position == 0)
        #expect(queue.doneAbove == [3])
        queue.settle(first[0], &record)
        #expect(queue.position == 1)
        #expect(queue.start(at: now).map(\.position) == [2])
    }

    @Test func `a failing lane is parked with what comes behind, and others go on`() {
        var record = DeliveryQueue.Record()
        var queue = queue([1, 1, 2], record: &record)
        let first = queue.start(at: now)
        queue.fail(first[0], until: now.adding(seconds: 5), &record)
        queue.settle(first[1], &record)
        #expect(queue.position == 3)
        #expect(record.parked.map(\.position) == [1, 2])
        #expect(record.parked.map(\.attempts) == [1, 0])
        queue.take(4, lane: lane(1), type: "a.b", isWanted: true, now: now, &record)
        queue.take(5, lane: lane(2), type: "a.b", isWanted: true, now: now, &record)
        #expect(queue.start(at: now).map(\.position) == [5])
        #expect(queue.nextDue == now.adding(seconds: 5))
        let later = now.adding(seconds: 5)
        let again = queue.start(at: later)
        #expect(again.map(\.position) == [1])
        queue.settle(again[0], &record)
        #expect(record.settled == [1])
        #expect(queue.start(at: later).map(\.position) == [2])
    }

    @Test func `in strict order nothing passes what failed`() {
        var record = DeliveryQueue.Record()
        var queue = queue([7, 7, 7], most: 1, record: &record)
        let first = queue.start(at: now)
        #expect(first.map(\.position) == [1])
        queue.fail(first[0], until: now.adding(seconds: 5), &record)
        #expect(queue.start(at: now).isEmpty)
    }

    @Test func `what was put back is tried again as it was`() {
        var record = DeliveryQueue.Record()
        var queue = queue([1], record: &record)
        let first = queue.start(at: now)
        queue.putBack(first[0])
        #expect(queue.start(at: now) == first)
        #expect(queue.position == 0)
    }

    @Test func `what was delivered above the cursor is not sent again`() {
        var record = DeliveryQueue.Record()
        var queue = DeliveryQueue(position: 0, done: [2], most: 8)
        for position in Int64(1)...3 {
            queue.take(
                position, lane: lane(UInt64(position)), type: "a.b", isWanted: true, now: now,
                &record)
        }
        #expect(queue.start(at: now).map(\.position) == [1, 3])
    }

    @Test func `each lane keeps its order and nothing is lost, in any order of failures`() {
        var random = Generator(state: 42)
        for _ in 0..<200 {
            var record = DeliveryQueue.Record()
            let lanes = (0..<60).map { _ in UInt64.random(in: 0...4, using: &random) }
            var queue = queue(lanes, record: &record)
            var (taken, clock): ([Int64], Timestamp) = ([], now)
            var flying: [DeliveryQueue.Item] = []
            for _ in 0..<5000 {
                flying += queue.start(at: clock)
                if flying.isEmpty, let due = queue.nextDue { clock = max(clock, due) }
                guard let index = flying.indices.randomElement(using: &random) else {
                    if queue.nextDue == nil { break }
                    continue
                }
                let item = flying.remove(at: index)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: queue.fail(item, until: clock.adding(seconds: 5), &record)
                case 1: queue.putBack(item)
                default:
                    taken.append(item.position)
                    queue.settle(item, &record)
                }
            }
            let wanted = lanes.indices.filter { lanes[$0] != 0 }.map { Int64($0 + 1) }
            #expect(taken.sorted() == wanted)
            for lane in UInt64(1)...4 {
                let own = taken.filter { lanes[Int($0) - 1] == lane }
                #expect(own == own.sorted())
            }
            #expect(queue.position == 60)
        }
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }
}

@Suite struct `The schedule of retries` {
    @Test func `there are ten attempts over three days`() {
        let pauses = (1...9).compactMap { RetrySchedule.pause(after: $0, chance: 0.5) }
        #expect(pauses.count == 9)
        #expect(RetrySchedule.pause(after: 10, chance: 0.5) == nil)
        let hours = pauses.reduce(.zero, +) / .seconds(3600)
        #expect((75..<76).contains(hours))
    }

    @Test func `a receiver may ask for more time, up to a day`() {
        let asked = RetrySchedule.pause(after: 1, chance: 0.5, asked: .seconds(90))
        #expect(asked == .seconds(90))
        let most = RetrySchedule.pause(after: 1, chance: 0.5, asked: .seconds(999_999))
        #expect(most == .seconds(86_400))
        #expect(RetrySchedule.rest(after: 99, chance: 0.5) == .seconds(86_400))
    }
}
