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

    @Test func `a batch whose connection breaks is sent again and wins`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        _ = try await store.log.append(commit(to: newID(), in: realm))
        let outcome = try await append(commit(to: newID(), in: realm), store)
        let at = try expectWon(outcome.get())
        #expect(at.first == 2)
        #expect(try await store.log.head(of: realm).position == 2)
    }

    @Test func `a batch sent again does not look like a caller's repeat`() async throws {
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

    @Test func `a batch whose connection breaks is fenced where the log failed over meanwhile`()
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

    @Test func `a batch sent again is answered also when it is refused then`() async throws {
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

    @Test func `a batch whose server is gone waits for its outcome while later ones fail`()
        async throws
    {
        let cluster = try TestCluster()
        let store = try TestStore(cluster, lanes: 1)
        defer { store.log.close() }
        let (realm, other) = (newRealm(), newRealm())
        for realm in [realm, other] {
            _ = try await store.log.append(commit(to: newID(), in: realm))
        }
        let holder = try await Session(store.database.superuser)
        let watcher = try await Session(store.database.superuser)
        try await holder.holdHead(of: realm)
        async let outcome = ending(store.log, commit(to: newID(), in: realm))
        try await eventually("the committer waits") {
            try await watcher.waitingCommitters().count == 1
        }
        try await offPool { try cluster.stop(immediate: true) }
        // For a while others wait too; then they are told.
        for _ in 0..<3 {
            let told = await ending(store.log, commit(to: newID(), in: other))
            #expect(told == .failure(.unavailable))
        }
        try await offPool { try cluster.start() }
        #expect(try expectWon(await outcome.get()).first == 2)
        #expect(try await store.log.head(of: realm).position == 2)
    }

    @Test func `a committed batch is confirmed once the awaited standby has it`()
        async throws
    {
        let cluster = try TestCluster()
        let store = try TestStore(cluster, lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        _ = try await store.log.append(commit(to: newID(), in: realm))
        let session = try await Session(store.database.superuser)
        func waiting() async throws -> Int64 {
            try await session.number(
                """
                select count(*) from pg_stat_activity
                where application_name like 'urd committer%' and wait_event = 'SyncRep'
                """)
        }
        try await session.run("alter system set synchronous_standby_names = 'nobody'")
        try await session.run("select pg_reload_conf()")
        async let outcome = ending(store.log, commit(to: newID(), in: realm))
        try await eventually("the commit waits for its standby") { try await waiting() == 1 }
        let found = try await session.number(
            "select count(*) from urd.event where realm = '\(realm)'")
        #expect(found == 1)
        // It is committed here by that, and nowhere else.
        try await session.breakCommitters()
        try await eventually("what was found waits as well") {
            let seen = try await session.number(
                "select count(*) from urd.event where realm = '\(realm)'")
            let isWaiting = try await waiting() == 1
            return seen == 2 && isWaiting
        }
        // A session that waits for a commit has no time to see another setting.
        try await session.run("alter system reset synchronous_standby_names")
        try await session.run("select pg_reload_conf()")
        #expect(try expectWon(await outcome.get()).first == 2)
    }

    @Test func `a batch whose server does not come back ends with its log`() async throws {
        let cluster = try TestCluster()
        let store = try TestStore(cluster, lanes: 1)
        let realm = newRealm()
        _ = try await store.log.append(commit(to: newID(), in: realm))
        let holder = try await Session(store.database.superuser)
        let watcher = try await Session(store.database.superuser)
        try await holder.holdHead(of: realm)
        async let outcome = ending(store.log, commit(to: newID(), in: realm))
        try await eventually("the committer waits") {
            try await watcher.waitingCommitters().count == 1
        }
        try await offPool { try cluster.stop(immediate: true) }
        store.log.close()
        #expect(await outcome == .failure(.unavailable))
    }

    @Test func `a batch whose connection breaks each time is resolved by a query in the end`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let (realm, other) = (newRealm(), newRealm())
        _ = try await store.log.append(commit(to: newID(), in: realm))
        try store.database.asSuperuser(
            """
            create function public.die() returns trigger language plpgsql security definer as $$
            begin
                perform pg_terminate_backend(pg_backend_pid());
                perform pg_sleep(10);
                return new;
            end $$;
            create trigger die before insert on urd.event for each row
                when (new.realm = '\(realm)') execute function public.die()
            """)
        let outcome = await ending(store.log, commit(to: newID(), in: realm))
        #expect(outcome == .failure(.unavailable))
        try expectWon(await store.log.append(commit(to: newID(), in: other)))
        try store.database.asSuperuser("drop trigger die on urd.event")
        #expect(try expectWon(await store.log.append(commit(to: newID(), in: realm))).first == 2)
    }

    @Test func `a batch whose server failed over is confirmed where the new server has it`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let stream = newID()
        _ = try await store.log.append(commit(to: newID(), in: realm))
        let copied = commit(to: stream, in: realm)
        // What a standby had already when it took over.
        let outcome = try await append(
            copied, store,
            meanwhile: """
                insert into urd.command (realm, command, digest, position, events, at)
                    values ('\(realm)', '\(copied.command)', '', 2, 0, now());
                update urd.realm_log set epoch = epoch + 1 where realm = '\(realm)'
                """)
        guard case .success(.duplicate(let at)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(at.epoch == 2 && at.first == 2)
    }

    @Test func `a server that never answers delays its waiters by one attempt at most`()
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
