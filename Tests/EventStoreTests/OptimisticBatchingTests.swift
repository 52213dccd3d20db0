import EventSourcing
import EventStore
import PostgresTesting
import Telemetry
import Testing
import Values

@Suite struct `A batch that is supposed to win` {
    /// One command that relies on a stream without writing to it.
    private func relying(on stream: UUID, at version: Int, in realm: RealmID) -> Commit {
        var commit = commit(to: newID(), in: realm)
        commit.reads[stream] = version
        return commit
    }

    @Test func `an optimistic batch wins whole where many commands rely on one stream`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        let (shared, missing) = (newID(), newID())
        try expectWon(await store.log.append(commit(to: shared, in: realm)))
        let commits = (0..<20).map { number in
            number.isMultiple(of: 2)
                ? relying(on: shared, at: 1, in: realm) : relying(on: missing, at: 0, in: realm)
        }
        let found = try await together(commits, store)
        let positions = try found.map { try expectWon($0.get()).first }
        #expect(positions.sorted() == Array(2...21))
        #expect(judged(store) == 0)
    }

    @Test func `an optimistic batch loses only the commands that rely on an old version`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        let shared = newID()
        try expectWon(await store.log.append(commit(to: shared, events: 2, in: realm)))
        // Some know the stream as it was, some as it is, some as nobody has written it.
        let versions = (0..<30).map { $0 % 4 }
        let found = try await together(
            versions.map { relying(on: shared, at: $0, in: realm) }, store)
        for (version, answer) in zip(versions, found) {
            if version == 2 {
                try expectWon(answer.get())
            } else {
                #expect(answer == .success(.conflict))
            }
        }
        #expect(judged(store) == 1)
    }

    @Test func `an optimistic batch is given up for realms whose commands keep losing`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        for _ in 0..<20 {
            let outcome = try await store.log.append(commit(to: newID(), at: 5, in: realm))
            #expect(outcome == .conflict)
        }
        #expect(judged(store) == 1)
        for _ in 0..<40 { try expectWon(await store.log.append(commit(to: newID(), in: realm))) }
        let outcome = try await store.log.append(commit(to: newID(), at: 5, in: realm))
        #expect(outcome == .conflict)
        #expect(judged(store) == 2)
    }

    @Test(arguments: [false, true])
    func `an optimistic batch keeps the claims of commands without events`(isJudged: Bool)
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        func takers() -> [Commit] {
            (0..<3).map { number in
                let stream = newID()
                return commit(
                    to: stream, events: 0, in: realm,
                    claims: [.take(Claim("slot", "\(number)"), for: stream)])
            }
        }
        let loser = commit(to: newID(), at: 4, events: 0, in: realm)
        let found = try await together(takers() + (isJudged ? [loser] : []), store)
        for answer in found.prefix(3) { try expectWon(answer.get()) }
        if isJudged { #expect(found.last == .success(.conflict)) }
        #expect(judged(store) == (isJudged ? 1 : 0))
        for answer in try await together(takers(), store) {
            #expect(answer == .success(.taken(kind: "slot")))
        }
    }

    /// What becomes of commands that fly in one batch.
    private func together(
        _ commits: [Commit], _ store: TestStore
    ) async throws -> [Result<AppendOutcome, LogFailure>] {
        var plug = try await Plug(store)
        try await plug.insert()
        async let answers = endings(store.log, commits)
        try await plug.waitUntilQueued(commits.count)
        try await plug.pull()
        return await answers
    }

    /// How many batches had to fly again to be judged.
    private func judged(_ store: TestStore) -> Int? {
        store.metrics.render().split(separator: "\n")
            .first { $0.hasPrefix("urd_commits_judged_total ") }
            .flatMap { Int($0.split(separator: " ")[1]) }
    }
}
