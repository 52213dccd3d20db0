import EventSourcing
import EventStore
import JSON
import Synchronization
import Testing
import Values

@testable import ReadModels

@Suite struct `The ring of a realm's newest events` {
    let log: TalliedLog
    let rings: EventRings

    init() throws {
        log = TalliedLog(try #require(RealmID("acme")))
        rings = EventRings(log, hub: log.hub)
    }

    private func filter(_ names: String...) -> EventFilter {
        var filter = EventFilter()
        filter.types.names = Set(names)
        return filter
    }

    /// Follows from a place until an event of this name, or until it cannot go on.
    private func follow(
        from cursor: LogCursor, filter: EventFilter? = nil, until last: String
    ) async -> (positions: [Int64], ending: String) {
        let following = rings.follow(log.realm, filter: filter)
        var cursor = cursor
        var positions: [Int64] = []
        while true {
            let alarms = following.alarms
            switch following.look(after: &cursor, limit: 3) {
            case .events(let events, _):
                for event in events {
                    cursor = event.cursor
                    guard filter?.wants(event.event) ?? true else { continue }
                    positions.append(event.event.position)
                    if event.event.name == last { return (positions, "last") }
                }
            case .nothing:
                let reached = await following.wait(past: cursor, since: alarms, until: .max)
                cursor = LogCursor(epoch: cursor.epoch, position: max(reached, cursor.position))
            case .behind:
                switch try? await following.page(after: &cursor, limit: 100) {
                case .events(let events, let head):
                    for event in events {
                        cursor = LogCursor(epoch: head.epoch, position: event.position)
                        guard filter?.wants(event) ?? true else { continue }
                        positions.append(event.position)
                        if event.name == last { return (positions, "last") }
                    }
                case .lost(let kept): return (positions, "lost \(kept)")
                case .failed(let failure): return (positions, "\(failure)")
                case nil: return (positions, "cancelled")
                }
            case .lost(let kept): return (positions, "lost \(kept)")
            case .failed(let failure): return (positions, "\(failure)")
            }
        }
    }

    @Test func `a commit is read once for all followers, and each has every event in order`()
        async throws
    {
        log.add("first")
        let many = 200
        let before = Mutex(0)
        let results = await withTaskGroup(of: [Int64].self) { group in
            for _ in 0..<many {
                group.addTask {
                    await follow(from: LogCursor(epoch: 1, position: 0), until: "end").positions
                }
            }
            // All wait behind the first one.
            while rings.last(of: log.realm) < 1 { await Task.yield() }
            while rings.waiters(of: log.realm) < many { await Task.yield() }
            before.withLock { $0 = log.reads }
            log.add("second")
            while rings.last(of: log.realm) < 2 { await Task.yield() }
            while rings.waiters(of: log.realm) < many { await Task.yield() }
            log.add("end")
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == many)
        #expect(results.allSatisfy { $0 == [1, 2, 3] })
        #expect(log.reads - before.withLock { $0 } == 2)
    }

    @Test
    func `a follower is woken for what its filter wants, and knows how far it was passed over`()
        async throws
    {
        log.add("noise")
        let following = rings.follow(log.realm, filter: filter("wanted"))
        var cursor = LogCursor(epoch: 1, position: 1)
        while case .nothing = following.look(after: &cursor, limit: 1),
            rings.last(of: log.realm) < 1
        { await Task.yield() }
        async let reached = following.wait(past: cursor, since: following.alarms, until: .max)
        while rings.waiters(of: log.realm) < 1 { await Task.yield() }
        for _ in 0..<5 {
            log.add("noise")
            let last = await lastOfLog()
            while rings.last(of: log.realm) < last { await Task.yield() }
            #expect(rings.waiters(of: log.realm) == 1)
        }
        log.add("noise", "wanted", "noise")
        #expect(await reached == 7)
        async let ticked = following.wait(
            past: LogCursor(epoch: 1, position: 9), since: following.alarms, until: 1)
        while rings.waiters(of: log.realm) < 1 { await Task.yield() }
        log.add("noise")
        while rings.last(of: log.realm) < 10 { await Task.yield() }
        rings.tick()
        #expect(await ticked == 10)
    }

    @Test func `a follower that was passed over is woken at an earlier tick than one that was not`()
        async throws
    {
        log.add("noise")
        let following = rings.follow(log.realm, filter: filter("wanted"))
        while rings.last(of: log.realm) < 1 { await Task.yield() }
        async let reached = following.wait(
            past: LogCursor(epoch: 1, position: 1), since: following.alarms, until: 5, ifPassed: 2)
        while rings.waiters(of: log.realm) < 1 { await Task.yield() }
        for _ in 0..<2 { rings.tick() }
        #expect(rings.waiters(of: log.realm) == 1)
        log.add("noise")
        while rings.last(of: log.realm) < 2 { await Task.yield() }
        #expect(rings.waiters(of: log.realm) == 1)
        rings.tick()
        #expect(await reached == 2)
    }

    private func lastOfLog() async -> Int64 { (try? await log.head(of: log.realm).position) ?? 0 }

    @Test func `a follower who is far behind reads pages, and misses nothing`() async throws {
        log.add((0..<6000).map { "n\($0)" } + ["end"])
        let result = await follow(from: LogCursor(epoch: 1, position: 0), until: "end")
        #expect(result.positions == Array(1...6001))
    }

    @Test func `the ring holds so many events, and what is behind them is read`() async throws {
        let waiting = rings.follow(log.realm)
        // From here on it has begun, and takes what follows.
        log.add("first")
        while rings.last(of: log.realm) < 1 { await Task.yield() }
        log.add((1..<5000).map { "n\($0)" })
        while rings.last(of: log.realm) < 5000 { await Task.yield() }
        var old = LogCursor(epoch: 1, position: 5000 - 4097)
        var new = LogCursor(epoch: 1, position: 5000 - 4096)
        guard case .behind = waiting.look(after: &old, limit: 1) else {
            Issue.record("It holds more than it may.")
            return
        }
        guard case .events(let events, _) = waiting.look(after: &new, limit: 1) else {
            Issue.record("It holds less than it may.")
            return
        }
        #expect(events.first?.event.position == 905)
    }

    @Test func `a hole ends every follower and is never stepped over`() async throws {
        log.add("one", "two", "three", "end")
        log.remove(3)
        let far = await follow(from: LogCursor(epoch: 1, position: 0), until: "end")
        #expect(far.positions.isEmpty || far.positions == [1, 2])
        #expect(far.ending == "hole(at: 3)")
    }

    @Test func `an epoch that lost nothing goes by unnoticed`() async throws {
        log.add("one", "two")
        async let result = follow(from: LogCursor(epoch: 1, position: 0), until: "end")
        while rings.waiters(of: log.realm) < 1 { await Task.yield() }
        log.begin(2, after: 2)
        log.add("three", "end")
        #expect(await result == ([1, 2, 3, 4], "last"))
    }

    @Test func `an epoch that lost events tells each follower that had them what it keeps`()
        async throws
    {
        log.add("one", "two", "three")
        // The ring has begun: whoever waits has had what there is.
        let first = rings.follow(log.realm)
        while rings.last(of: log.realm) < 3 { await Task.yield() }
        async let ahead = follow(from: LogCursor(epoch: 1, position: 2), until: "end")
        async let wanting = follow(
            from: LogCursor(epoch: 1, position: 1), filter: filter("end"), until: "end")
        while rings.waiters(of: log.realm) < 2 { await Task.yield() }
        log.begin(2, after: 2)
        log.add("other", "end")
        #expect(await ahead == ([3], "lost 2"))
        // It had passed over what is lost.
        #expect(await wanting == ([], "lost 2"))
        withExtendedLifetime(first) {}
        let behind = await follow(from: LogCursor(epoch: 1, position: 2), until: "end")
        #expect(behind == ([3, 4], "last"))
    }

    @Test func `a log that cannot be read for a while is read when it can be`() async throws {
        log.add("one")
        async let result = follow(from: LogCursor(epoch: 1, position: 0), until: "end")
        while rings.waiters(of: log.realm) < 1 { await Task.yield() }
        log.fail(with: .unavailable)
        log.add("two", "end")
        log.fail(with: nil)
        #expect(await result == ([1, 2, 3], "last"))
    }

    @Test func `a follower that is cancelled waits no more, and the last one takes the ring along`()
        async throws
    {
        log.add("one")
        var first: EventFollowing? = rings.follow(log.realm)
        // The ring has begun and has all there is: nothing but the cancellation ends the wait.
        while rings.last(of: log.realm) < 1 { await Task.yield() }
        let task = Task {
            let following = rings.follow(log.realm)
            return await following.wait(
                past: LogCursor(epoch: 1, position: 1), since: following.alarms, until: .max)
        }
        while rings.waiters(of: log.realm) < 1 { await Task.yield() }
        #expect(rings.realms == [log.realm])
        task.cancel()
        #expect(await task.value == 1)
        #expect(rings.waiters(of: log.realm) == 0)
        #expect(rings.realms == [log.realm])
        withExtendedLifetime(first) {}
        first = nil
        #expect(rings.realms.isEmpty)
    }

    /// One that was told to read pages would ask this ring again after each of them, for ever.
    @Test func `a ring that failed says so to a follower of a later epoch too`() async {
        let following = rings.follow(log.realm)
        log.add("one", "two")
        while rings.last(of: log.realm) < 2 { await Task.yield() }
        log.fail(with: .damaged)
        log.add("three")
        var behind = LogCursor(epoch: 1, position: 2)
        while case .nothing = following.look(after: &behind, limit: 1) { await Task.yield() }
        log.fail(with: nil)
        log.begin(2, after: 1)
        for position in [0, 1, 2] as [Int64] {
            var cursor = LogCursor(epoch: 2, position: position)
            guard case .failed(.log(.damaged)) = following.look(after: &cursor, limit: 1) else {
                Issue.record("It goes on at \(position).")
                continue
            }
        }
        // What is before the failure is still to be had in the epoch that the ring has met.
        var before = LogCursor(epoch: 1, position: 1)
        guard case .events(let events, _) = following.look(after: &before, limit: 1) else {
            Issue.record("It withholds what it has.")
            return
        }
        #expect(events.map(\.event.position) == [2])
    }

    @Test func `an event is written once in each form, however many are sent it`() throws {
        let event = RecentEvent(TalliedLog.event("a.b", at: 4, in: log.realm), epoch: 3)
        let written = Mutex(0)
        for form in ["a", "b", "a", "b", "a"] {
            let bytes = event.bytes(in: form) { _, cursor in
                written.withLock { $0 += 1 }
                return Array("\(form) \(cursor)".utf8)
            }
            #expect(String(decoding: bytes, as: UTF8.self) == "\(form) 3:4")
        }
        #expect(written.withLock { $0 } == 2)
    }
}
