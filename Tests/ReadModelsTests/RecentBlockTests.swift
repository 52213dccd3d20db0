import EventSourcing
import EventStore
import LogTesting
import Synchronization
import Testing
import Values

@testable import ReadModels

@Suite struct `Blocks of a realm's newest events` {
    let log: TalliedLog
    let rings: EventRings

    init() throws {
        log = TalliedLog(try #require(RealmID("acme")))
        rings = EventRings(log, hub: log.hub)
    }

    /// What follows a position in the ring, where it begins with it.
    private func block(
        after position: Int64, for following: EventFollowing
    ) -> (positions: [Int64], block: RecentBlock?) {
        var cursor = LogCursor(epoch: 1, position: position)
        guard case .events(let events, let block) = following.look(after: &cursor, limit: 128)
        else { return ([], nil) }
        return (events.map(\.event.position), block)
    }

    private func fill(_ names: [String]) async {
        log.add("begin")
        while rings.last(of: log.realm) < 1 { await Task.yield() }
        log.add(names)
        while rings.last(of: log.realm) <= names.count { await Task.yield() }
    }

    @Test func `a block of events is written once for all followers with one filter`() async throws
    {
        var odd = EventFilter()
        odd.types.names = ["odd"]
        let all = (rings.follow(log.realm), rings.follow(log.realm))
        let some = (rings.follow(log.realm, filter: odd), rings.follow(log.realm, filter: odd))
        await fill((2...200).map { $0.isMultiple(of: 2) ? "even" : "odd" })
        let found = block(after: 64, for: all.0)
        #expect(found.positions == Array(65...128))
        let block = try #require(found.block)
        let written = Mutex(0)
        for following in [all.0, some.0, all.1, some.1, all.0] {
            for form in ["a", "b"] {
                let frames = following.frames(of: block, in: form) { event, cursor in
                    written.withLock { $0 += 1 }
                    return Array("\(form)\(cursor);".utf8)
                }
                let isAll = following === all.0 || following === all.1
                let expected = (65...128).filter { isAll || !$0.isMultiple(of: 2) }
                #expect(
                    String(decoding: frames.bytes, as: UTF8.self)
                        == expected.map { "\(form)1:\($0);" }.joined())
                #expect(frames.count == expected.count)
                #expect(frames.last == expected.last.map { Int64($0) })
            }
        }
        #expect(written.withLock { $0 } == 2 * (64 + 32))
    }

    @Test func `a block is not kept for more filters than a few, and is right for each`()
        async throws
    {
        let followings = (0..<10).map { number in
            var filter = EventFilter()
            filter.types.names = ["n\(number)"]
            return rings.follow(log.realm, filter: filter)
        }
        await fill((2...64).map { "n\($0 % 10)" })
        let block = try #require(block(after: 0, for: followings[0]).block)
        for _ in 0..<2 {
            for (number, following) in followings.enumerated() {
                let frames = following.frames(of: block, in: "a") { event, _ in
                    Array(event.name.utf8) + [0x3B]
                }
                let expected = (2...64).filter { $0 % 10 == number }
                #expect(frames.count == expected.count)
                #expect(
                    String(decoding: frames.bytes, as: UTF8.self)
                        == expected.map { _ in "n\(number);" }.joined())
            }
        }
    }

    @Test func `a follower between two blocks comes to the next one`() async {
        let following = rings.follow(log.realm)
        await fill((2...150).map { "n\($0)" })
        for position in [1, 63, 65, 100, 127] as [Int64] {
            let found = block(after: position, for: following)
            #expect(found.positions == Array(position + 1...(position / 64 + 1) * 64))
            #expect(found.block == nil)
        }
        #expect(block(after: 128, for: following).positions == Array(129...150))
        #expect(block(after: 128, for: following).block == nil)
    }

    /// Batches of every size, epochs that keep what is held and epochs that do not, and more than is held.
    @Test(arguments: 0..<4)
    func `blocks hold what the ring holds, in its epoch, whatever happens to the log`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        var recent = RecentEvents()
        recent.begin(1, after: Int64.random(in: 0..<200, using: &random))
        var epoch = 1
        for _ in 0..<30 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                epoch += 1
                recent.move(to: epoch)
            case 1:
                epoch += 1
                let lost = Int64.random(in: 0..<90, using: &random)
                recent.begin(epoch, after: max(0, recent.last - lost))
            default:
                for _ in 0..<Int.random(in: 1..<500, using: &random) {
                    recent.append(TalliedLog.event("n", at: recent.last + 1, in: log.realm))
                }
            }
            var blocks = 0
            for position in max(0, recent.first - 2)...recent.last
            where position % 64 < 2 || position % 13 == 0 {
                let (events, block) = recent.after(position, limit: 128)
                guard position < recent.last, recent.reach(back: position) else {
                    #expect(events.isEmpty)
                    continue
                }
                let end = min(recent.last, (position / 64 + 1) * 64)
                #expect(events.map(\.event.position) == Array(position + 1...end))
                #expect(events.allSatisfy { $0.cursor.epoch == epoch })
                guard let block else { continue }
                blocks += 1
                #expect(block.events.elementsEqual(events) { $0 === $1 })
                #expect(position.isMultiple(of: 64) && events.count == 64)
            }
            let first = (recent.first + 62) / 64
            #expect(blocks == max(0, Int(recent.last / 64 - first)))
        }
    }
}
