import LogTesting
import Synchronization
import Testing
import Values

@testable import EventSourcing

@Suite struct `The turnstile` {
    let realm = ConformanceRealm.fresh()
    let hot = UUID(high: 1, low: 1)
    let other = UUID(high: 1, low: 2)

    /// Who is inside, and what was seen there.
    final class Room: Sendable {
        struct Seen {
            var writers = 0
            var readers = 0
            var mostReaders = 0
            var hasMixed = false
        }

        private let state = Mutex(Seen())

        var seen: Seen { state.withLock { $0 } }

        func enter(asWriter: Bool) {
            state.withLock {
                if asWriter { $0.writers += 1 } else { $0.readers += 1 }
                $0.mostReaders = max($0.mostReaders, $0.readers)
                if $0.writers > 1 || ($0.writers == 1 && $0.readers > 0) { $0.hasMixed = true }
            }
        }

        func leave(asWriter: Bool) {
            state.withLock { if asWriter { $0.writers -= 1 } else { $0.readers -= 1 } }
        }
    }

    @Test func `the turnstile admits one writer of a stream at a time, and readers together`()
        async throws
    {
        let (turnstile, realm, hot) = (StreamQueue(), realm, hot)
        let room = Room()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let writes = number % 4 == 0
                    let line =
                        writes
                        ? StreamQueue.StreamSet(writes: [hot]) : StreamQueue.StreamSet(reads: [hot])
                    await turnstile.pass(line, in: realm) {
                        room.enter(asWriter: writes)
                        for _ in 0..<20 { await Task.yield() }
                        room.leave(asWriter: writes)
                    }
                }
            }
        }
        let seen = room.seen
        #expect(!seen.hasMixed)
        #expect(seen.mostReaders > 1)
        #expect(turnstile.isIdle)
    }

    @Test func `the turnstile deadlocks nobody who enters for several streams in any order`()
        async throws
    {
        let (turnstile, realm, hot, other) = (StreamQueue(), realm, hot, other)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let line =
                        number % 2 == 0
                        ? StreamQueue.StreamSet(writes: [hot], reads: [other])
                        : StreamQueue.StreamSet(writes: [other], reads: [hot])
                    await turnstile.pass(line, in: realm) { await Task.yield() }
                }
            }
        }
        #expect(turnstile.isIdle)
    }

    @Test func `the turnstile marks a stream as contended by what is inside and by writers`()
        async throws
    {
        let turnstile = StreamQueue()
        let asWriter = StreamQueue.StreamSet(writes: [hot])
        let asReader = StreamQueue.StreamSet(reads: [hot])
        await turnstile.pass(asReader, in: realm) {
            #expect(turnstile.taken(asWriter, in: realm) == asWriter)
            #expect(turnstile.taken(asReader, in: realm) == StreamQueue.StreamSet())
            #expect(
                turnstile.taken(StreamQueue.StreamSet(writes: [other]), in: realm)
                    == StreamQueue.StreamSet())
            #expect(
                turnstile.taken(asWriter, in: ConformanceRealm.fresh()) == StreamQueue.StreamSet())
        }
        await turnstile.pass(asWriter, in: realm) {
            #expect(turnstile.taken(asReader, in: realm) == asReader)
        }
    }
}
