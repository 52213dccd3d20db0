import EventSourcing
import Synchronization
import Testing

@testable import EventStore

@Suite struct `The commit hub` {
    private final class Woken: Sendable {
        let positions = Mutex<[Int64]>([])
    }

    private let realm = newRealm()

    @Test func `wakes who waits for a position once it is passed`() async throws {
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
                hub.publish(position, of: realm)
                while woken.positions.withLock({ $0.count }) < Int(position) - 1 {
                    await Task.yield()
                }
                #expect(woken.positions.withLock { $0.count } == Int(position) - 1)
            }
        }
        #expect(woken.positions.withLock { $0 } == [1, 2, 3])
        #expect(hub.head(of: realm) == 4)
    }

    @Test func `does not go back, and keeps realms apart`() async {
        let hub = CommitHub()
        let other = newRealm()
        hub.publish(5, of: realm)
        hub.publish(3, of: realm)
        #expect(hub.head(of: realm) == 5)
        #expect(hub.head(of: other) == 0)
        hub.publish(0, of: other)
        #expect(Set(hub.realms) == [realm, other])
        // At once, because it is past already.
        await hub.wait(past: 4, in: realm)
    }

    @Test func `begins anew with a restored log`() async {
        let hub = CommitHub()
        hub.publish(100, of: realm)
        hub.restart(realm)
        #expect(hub.head(of: realm) == 0)
        let follower = Task { await hub.wait(past: 50, in: realm) }
        hub.publish(50, of: realm)
        #expect(hub.head(of: realm) == 50)
        hub.publish(51, of: realm)
        await follower.value
    }

    @Test func `lets go of who no longer wants to wait`() async {
        let hub = CommitHub()
        for isEarly in [false, true] {
            let follower = Task { await hub.wait(past: 1, in: realm) }
            if !isEarly { await Task.yield() }
            follower.cancel()
            await follower.value
        }
        hub.publish(2, of: realm)
        #expect(hub.head(of: realm) == 2)
    }

    @Test func `loses no wake-up, whoever is faster`() async {
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
                        hub.publish(position, of: realm)
                        if position % 16 == 0 { await Task.yield() }
                    }
                }
            }
        }
        #expect(hub.head(of: realm) == last)
    }
}
