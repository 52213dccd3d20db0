import EventSourcing
import EventStore
import Postgres
import PostgresTesting
import Testing
import Values

/// A connection that breaks while a batch is in the air leaves its outcome unknown. The log finds
/// out, and says what happened rather than what is convenient.
@Suite struct `A batch whose connection breaks` {
    /// Appends while the realm's head is held, breaks the committer's connection, and lets go.
    private func append(
        _ commit: Commit, _ store: TestStore,
        meanwhile: String = "select 1"
    ) async throws -> Result<AppendOutcome, LogFailure> {
        let holder = try await Session(store.database.superuser)
        let watcher = try await Session(store.database.superuser)
        try await holder.holdHead(of: commit.realm)
        async let outcome = ending(store.log, commit)
        try await eventually("the committer waits") {
            try await watcher.waitingCommitters().count == 1
        }
        try await watcher.breakCommitters()
        try await holder.run(meanwhile)
        try await holder.run("commit")
        return await outcome
    }

    @Test func `is sent again and wins`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        _ = try await store.log.append(commit(to: newID(), in: realm))
        let outcome = try await append(commit(to: newID(), in: realm), store)
        let at = try expectWon(outcome.get())
        #expect(at.first == 2)
        #expect(try await store.log.head(of: realm).position == 2)
    }

    @Test func `does not make a caller's repeat look like the first time`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let original = commit(to: newID(), in: realm)
        let first = try expectWon(await store.log.append(original))
        var again = original
        again.origin.at = testTime.adding(seconds: 60)
        #expect(try await append(again, store).get() == .duplicate(first))
        again.digest = [9]
        #expect(try await append(again, store).get() == .misused)
    }

    @Test func `is told to be fenced when the log failed over meanwhile, and the log goes on`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let stream = newID()
        _ = try await store.log.append(commit(to: stream, in: realm))
        let lost = commit(to: stream, at: 1, in: realm)
        let outcome = try await append(
            lost, store,
            meanwhile: "update urd.realm_log set epoch = epoch + 1 where realm = '\(realm)'")
        #expect(outcome == .failure(.fenced))
        #expect(try expectWon(await store.log.append(lost)).epoch == 2)
    }

    @Test func `is answered even when it is refused the second time`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        _ = try await store.log.append(commit(to: newID(), in: realm))
        let started = ContinuousClock.now
        let outcome = try await append(
            commit(to: newID(), in: realm), store,
            meanwhile: """
                alter table urd.command add constraint nothing_more check (realm <> '\(realm)')
                    not valid
                """)
        #expect(outcome == .failure(.refused))
        #expect(ContinuousClock.now - started < .seconds(4), "It was tried again and again.")
    }

    @Test func `a server that never answers keeps nobody waiting for more than one attempt`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let server = try SilentServer()
        let log = PostgresLog(Database(server.address), keyring: store.keyring)
        defer { log.close() }
        let commits = (0..<12).map { _ in commit(to: newID(), in: newRealm()) }
        for commit in commits { _ = try await store.keyring.keys(of: commit.realm) }
        let started = ContinuousClock.now
        let outcomes = await endings(log, commits)
        #expect(outcomes.allSatisfy { $0 == .failure(.unavailable) })
        #expect(ContinuousClock.now - started < .seconds(8))
    }
}
