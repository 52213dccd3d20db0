import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

/// What ends a browser's sessions at once, however many there are.
@Suite struct `A commit of thousands of events` {
    @Test(arguments: [1_000, 3_000])
    func `a commit of thousands of events over as many streams is one append`(
        count: Int
    ) async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let streams = (0..<count).map { _ in newID() }
        func all(at version: Int) -> Commit {
            var all = commit(to: streams[0], at: version, in: realm)
            for stream in streams.dropFirst() {
                let one = commit(to: stream, at: version, in: realm)
                all.events += one.events
                all.reads.merge(one.reads) { first, _ in first }
            }
            return all
        }
        let opened = try expectWon(await store.log.append(all(at: 0)))
        #expect(opened.last - opened.first == Int64(count - 1))
        let ended = try expectWon(await store.log.append(all(at: 1)))
        #expect(ended.last == opened.last + Int64(count))
        // One of them that moved meanwhile is a conflict of all.
        #expect(try await store.log.append(all(at: 1)) == .conflict)
        #expect(try await store.log.head(of: realm).position == ended.last)
    }
}
