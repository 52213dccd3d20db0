import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

@Suite struct `An event that is missing` {
    private let realm = newRealm()

    /// Three streams with three events each, in turn; one event is taken away.
    private func log(without position: Int) async throws -> (TestStore, [UUID]) {
        let store = try TestStore()
        let streams = (0..<3).map { _ in newID() }
        for version in 0..<3 {
            for stream in streams {
                try expectWon(
                    await store.log.append(commit(to: stream, at: version, in: realm)))
            }
        }
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            delete from urd.event where realm = '\(realm)' and position = \(position);
            commit
            """)
        return (store, streams)
    }

    @Test func `a stream without one of its events is damaged, and the others are read`()
        async throws
    {
        // The second event of the second stream.
        let (store, streams) = try await log(without: 5)
        defer { store.log.close() }
        for start in 0...1 {
            await #expect(throws: LogFailure.damaged) {
                try await store.log.stream(streams[1], after: start, in: realm)
            }
        }
        // What comes behind the missing one is whole.
        #expect(try await store.log.stream(streams[1], after: 2, in: realm).map(\.version) == [3])
        for stream in [streams[0], streams[2]] {
            #expect(
                try await store.log.stream(stream, after: 0, in: realm).map(\.version) == [1, 2, 3])
        }
    }

    @Test func `a stream without its last event is damaged`() async throws {
        let (store, streams) = try await log(without: 8)
        defer { store.log.close() }
        for start in 0...1 {
            await #expect(throws: LogFailure.damaged) {
                try await store.log.stream(streams[1], after: start, in: realm)
            }
        }
        let lost = try await store.log.stream(streams[2], after: 0, in: realm)
        #expect(lost.map(\.version) == [1, 2, 3])
    }

    @Test func `a range without one of its events is damaged, whatever types are asked for`()
        async throws
    {
        let (store, _) = try await log(without: 5)
        defer { store.log.close() }
        for types in [[], ["nothing.like_it"]] {
            await #expect(throws: LogFailure.damaged) {
                try await store.log.scan(after: 3, through: 6, types: types, in: realm)
            }
        }
        for (after, through) in [(0, 4), (5, 9)] as [(Int64, Int64)] {
            let found = try await store.log.scan(
                after: after, through: through, types: ["nothing.like_it"], in: realm)
            #expect(found.isEmpty)
        }
    }
}
