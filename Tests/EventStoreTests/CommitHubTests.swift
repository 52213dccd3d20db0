import EventSourcing
import Synchronization
import Testing

@testable import EventStore

@Suite struct `The commit hub` {
    private final class Woken: Sendable {
        let positions = Mutex<[Int64]>([])
    }

    private let realm = newRealm()

    @Test func `the commit hub wakes a waiter once its position is committed`() async throws {
        let hub = CommitHub()
        let woken = Woken()
        await withTaskGroup(of: Void.self) { group in
            for position in [3, 1, 2] as [Int64] {
                group.addTask {
                    await hub.wait(past: position, in: realm)
                    woken.positions.withLock { $0.append(position) }
                }
            }
            for position in 1...4 as ClosedRange<Int64> {
                hub.publish(Head(epoch: 1, position: position), of: realm)
                while woken.positions.withLock({ $0.count }) < Int(position) - 1 {
                    await Task.yield()
                }
                #expect(woken.positions.withLock { $0.count } == Int(position) - 1)
            }
        }
        #expect(woken.positions.withLock { $0 } == [1, 2, 3])
        #expect(hub.head(of: realm) == 4)
    }

    @Test func `the commit hub does not go back and keeps realms apart`() async {
        let hub = CommitHub()
        let other = newRealm()
        hub.publish(Head(epoch: 1, position: 5), of: realm)
        hub.publish(Head(epoch: 1, position: 3), of: realm)
        #expect(hub.head(of: realm) == 5)
        #expect(hub.head(of: other) == 0)
        hub.publish(Head(epoch: 1, position: 0), of: other)
        #expect(Set(hub.realms) == [realm, other])
        // At once, because it is past already.
        await hub.wait(past: 4, in: realm)
    }

    @Test func `the commit hub restarts with a restored log`() async {
        let hub = CommitHub()
        hub.publish(Head(epoch: 1, position: 100), of: realm)
        hub.restart(realm)
        #expect(hub.head(of: realm) == 0)
        let follower = Task { await hub.wait(past: 50, in: realm) }
        hub.publish(Head(epoch: 2, position: 50), of: realm)
        #expect(hub.head(of: realm) == 50)
        hub.publish(Head(epoch: 2, position: 51), of: realm)
        await follower.value
    }

    @Test func `the commit hub takes a smaller head of another epoch, but not of the same one`() {
        let hub = CommitHub()
        #expect(hub.publish(Head(epoch: 2, position: 100), of: realm))
        #expect(hub.publish(Head(epoch: 2, position: 40), of: realm))
        #expect(hub.head(of: realm) == 100)
        #expect(!hub.publish(Head(epoch: 3, position: 40), of: realm))
        #expect(hub.head(of: realm) == 40)
        // A dump of an earlier time has a smaller number: another epoch is another epoch.
        #expect(!hub.publish(Head(epoch: 1, position: 7), of: realm))
        #expect(hub.head(of: realm) == 7)
        #expect(hub.epoch(of: realm) == 1)
    }

    @Test
    func `the commit hub gives another configuration number in another epoch at any position`() {
        let hub = CommitHub()
        var given: Set<Int64> = []
        for (epoch, position) in [(1, 97), (2, 40), (2, 41), (3, 97), (1, 97)] as [(Int, Int64)] {
            hub.publishConfiguration(Head(epoch: epoch, position: position), of: realm)
            given.insert(hub.configuration(of: realm))
            hub.publishConfiguration(Head(epoch: epoch, position: 12), of: realm)
            given.insert(hub.configuration(of: realm))
        }
        #expect(given.count == 5)
    }

    @Test func `the commit hub announces another epoch before any of its events`() {
        let hub = CommitHub()
        let told = Woken()
        hub.onRestart { [realm] restarted in
            #expect(restarted == realm)
            told.positions.withLock { $0.append(1) }
        }
        hub.publish(Head(epoch: 1, position: 1), of: realm)
        hub.publishConfiguration(Head(epoch: 1, position: 1), of: realm)
        #expect(told.positions.withLock { $0.count } == 1)
        hub.enter(2, of: realm)
        hub.publish(Head(epoch: 3, position: 1), of: realm)
        hub.publishConfiguration(Head(epoch: 4, position: 1), of: realm)
        hub.restart(realm)
        #expect(told.positions.withLock { $0.count } == 5)
    }

    @Test func `the commit hub wakes waiters of a lost tail, whenever they began to wait`() async {
        let hub = CommitHub()
        hub.publish(Head(epoch: 1, position: 100), of: realm)
        let restarts = hub.restarts(of: realm)
        let follower = Task { await hub.wait(past: 100, in: realm, since: restarts) }
        await Task.yield()
        hub.publish(Head(epoch: 2, position: 50), of: realm)
        await follower.value
        await hub.wait(past: 100, in: realm, since: restarts)
    }

    @Test func `the commit hub forgets a realm that the database does not have`() {
        let hub = CommitHub()
        let other = newRealm()
        hub.publish(Head(epoch: 1, position: 5), of: realm)
        hub.publish(Head(epoch: 1, position: 5), of: other)
        let before = hub.configuration(of: realm)
        hub.keepOnly([other])
        #expect(hub.realms == [other])
        #expect(hub.epoch(of: realm) == 0)
        #expect(hub.epoch(of: other) == 1)
        #expect(hub.configuration(of: realm) != before)
        // Once: it does not begin anew with each look.
        let after = hub.configuration(of: realm)
        hub.keepOnly([other])
        #expect(hub.configuration(of: realm) == after)
    }

    @Test func `the commit hub releases a cancelled waiter`() async {
        let hub = CommitHub()
        for isEarly in [false, true] {
            let follower = Task { await hub.wait(past: 1, in: realm) }
            if !isEarly { await Task.yield() }
            follower.cancel()
            await follower.value
        }
        hub.publish(Head(epoch: 1, position: 2), of: realm)
        #expect(hub.head(of: realm) == 2)
    }

    @Test func `the commit hub loses no wake-up in any interleaving`() async {
        let hub = CommitHub()
        let last: Int64 = 2_000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var position: Int64 = 0
                    while position < last {
                        await hub.wait(past: position, in: realm)
                        position = hub.head(of: realm)
                    }
                }
                // These give up again and again.
                group.addTask {
                    while hub.head(of: realm) < last {
                        let impatient = Task {
                            await hub.wait(past: hub.head(of: realm), in: realm)
                        }
                        await Task.yield()
                        impatient.cancel()
                        await impatient.value
                    }
                }
            }
            for start in 1...2 as ClosedRange<Int64> {
                group.addTask {
                    for position in stride(from: start, through: last, by: 2) {
                        hub.publish(Head(epoch: 1, position: position), of: realm)
                        if position % 16 == 0 { await Task.yield() }
                    }
                }
            }
        }
        #expect(hub.head(of: realm) == last)
    }
}
