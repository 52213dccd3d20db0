import EventSourcing
import Foundation
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@testable import EventStore

/// What a crash or a failover takes away is not used any more: whatever is acknowledged can be read by
/// a node that knows nothing but the database.
@Suite(.serialized) struct `Lost keys` {
    private static let mail: JSONObject = ["mail": "someone@example.org"]

    private func personal(_ subject: UUID, at version: Int = 0, in realm: RealmID) -> Commit {
        commit(to: subject, at: version, in: realm, personal: Self.mail, subject: subject)
    }

    private func anonymous(_ stream: UUID, at version: Int = 0, in realm: RealmID) -> Commit {
        var commit = commit(to: stream, at: version, in: realm)
        commit.origin.address = "203.0.113.7"
        return commit
    }

    /// What a new node reads of some streams, event by event.
    private func told(
        _ streams: [UUID], _ store: TestStore, _ realm: RealmID
    ) async throws -> [Recorded.Personal] {
        let fresh = try TestStore(store.database, master: store.master)
        defer { fresh.log.close() }
        var told: [Recorded.Personal] = []
        for stream in streams {
            told += try await fresh.log.stream(stream, after: 0, in: realm).map(\.personal)
        }
        let verifier = LogVerifier(fresh.pool, keyring: fresh.keyring, directory: nil)
        #expect(try await verifier.verify(realm).isIntact)
        return told
    }

    private let opened = Recorded.Personal.opened(Self.mail)
    private let openedAddress = Recorded.Personal.opened(["$address": "203.0.113.7"])

    // MARK: - A crash

    enum Crash: String, CaseIterable {
        case immediateStop
        case killedServer
        case killedBackend
    }

    @Test(arguments: [
        (Crash.immediateStop, "on"), (.immediateStop, "off"), (.immediateStop, "local"),
        (.killedServer, "on"), (.killedBackend, "off"),
    ])
    func `lost keys seal nothing after a crash between their making and the append`(
        crash: Crash, commits: String
    ) async throws {
        // What nobody waits for is not written by itself for a while.
        let cluster = try TestCluster(settings: [
            "wal_writer_delay=10s", "synchronous_commit=\(commits)", "restart_after_crash=on",
        ])
        let store = try TestStore(cluster)
        defer { store.log.close() }
        let (realm, person, thing) = (newRealm(), newID(), newID())
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        _ = try await store.keyring.sealingKey(of: person, in: realm)
        _ = try await store.keyring.sealingKey(of: anonymousSubject(testTime), in: realm)
        try await happen(crash, cluster, store)
        for commit in [personal(person, in: realm), anonymous(thing, in: realm)] {
            try await eventually("the log goes on") {
                guard case .success(.won) = await ending(store.log, commit) else { return false }
                return true
            }
        }
        #expect(try await told([person, thing], store, realm) == [opened, openedAddress])
    }

    private func happen(_ crash: Crash, _ cluster: TestCluster, _ store: TestStore) async throws {
        switch crash {
        case .immediateStop:
            try await offPool { try cluster.stop(immediate: true) }
            try await offPool { try cluster.start() }
        case .killedServer:
            kill(try #require(cluster.serverProcess), SIGKILL)
            try await offPool { try cluster.stop() }
            // Its children go by themselves, and hold the memory until then.
            try await eventually("it starts again") {
                (try? await offPool { try cluster.start() }) != nil
            }
        case .killedBackend:
            let session = try await Session(store.database.superuser)
            kill(session.process, SIGKILL)
            let address = store.database.superuser
            try await eventually("it starts again") {
                (try? await offPool { _ = try Connection(address).run("select 1") }) != nil
            }
        }
    }

    // MARK: - A lost tail

    enum News: CaseIterable { case append, stream, page, head }

    /// As an asynchronous standby was that is promoted: without the last events and their keys.
    private func loseTail(_ store: TestStore, _ realm: RealmID, after position: Int) throws {
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            delete from urd.subject_key where realm = '\(realm)' and subject in (
                select subject from urd.event where realm = '\(realm)' and position > \(position));
            delete from urd.stream where realm = '\(realm)' and stream in (
                select stream from urd.event where realm = '\(realm)' and position > \(position));
            delete from urd.event where realm = '\(realm)' and position > \(position);
            delete from urd.command where realm = '\(realm)' and position > \(position);
            update urd.realm_log set epoch = epoch + 1, position = \(position)
                where realm = '\(realm)';
            commit
            """)
    }

    @Test(arguments: News.allCases)
    func `lost keys of a tail are made anew, however a node learns of it`(news: News) async throws {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let (realm, person, thing, other) = (newRealm(), newID(), newID(), newID())
        try expectWon(await store.log.append(commit(to: other, in: realm)))
        try expectWon(await store.log.append(personal(person, in: realm)))
        try expectWon(await store.log.append(anonymous(thing, in: realm)))
        #expect(store.keyring.knownKey(of: person, in: realm) != nil)
        try loseTail(store, realm, after: 1)
        switch news {
        case .append:
            #expect(
                await ending(store.log, personal(person, in: realm)) == .failure(.fenced))
        case .stream: _ = try? await store.log.stream(other, after: 0, in: realm)
        case .page: _ = try await store.log.events(from: 1, limit: 10, in: realm)
        case .head: _ = try await store.log.head(of: realm)
        }
        #expect(store.keyring.knownKey(of: person, in: realm) == nil)
        try expectWon(await store.log.append(personal(person, in: realm)))
        try expectWon(await store.log.append(anonymous(thing, in: realm)))
        #expect(try await told([person, thing], store, realm) == [opened, openedAddress])
    }

    @Test(arguments: [false, true])
    func `lost keys of a whole realm are made anew`(isEpochKnown: Bool) async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, person) = (newRealm(), newID())
        if isEpochKnown {
            try expectWon(await store.log.append(personal(person, in: realm)))
        } else {
            _ = try await store.keyring.keys(of: realm)
        }
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            do $$ declare v_table text; begin
                for v_table in select c.table_name from information_schema.columns c
                    join information_schema.tables t using (table_schema, table_name)
                    where table_schema = 'urd' and column_name = 'realm'
                        and table_type = 'BASE TABLE'
                loop
                    execute format('delete from urd.%I where realm = %L', v_table, '\(realm)');
                end loop;
            end $$;
            commit
            """)
        if isEpochKnown {
            #expect(
                await ending(store.log, personal(person, in: realm)) == .failure(.fenced))
        }
        try expectWon(await store.log.append(personal(person, in: realm)))
        #expect(try await told([person], store, realm) == [opened])
    }

    // MARK: - Append

    enum Loss: CaseIterable { case missing, replaced, erased }

    @Test(arguments: Loss.allCases, [false, true])
    func `lost keys are noticed by the append, and the command is sealed anew`(
        loss: Loss, isJudged: Bool
    ) async throws {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        let (realm, person) = (newRealm(), newID())
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        try expectWon(await store.log.append(personal(person, in: realm)))
        let known = try #require(store.keyring.knownKey(of: person, in: realm))
        switch loss {
        case .missing, .replaced:
            try store.database.asSuperuser("delete from urd.subject_key where realm = '\(realm)'")
            if loss == .replaced {
                _ = try await other.keyring.sealingKey(of: person, in: realm)
            }
        case .erased: try await other.keyring.destroyKey(of: person, in: realm)
        }
        if isJudged {
            // Batches are judged at once for a while.
            let loser = commit(to: newID(), at: 5, in: realm)
            #expect(await ending(store.log, loser) == .success(.conflict))
        }
        #expect(store.keyring.knownKey(of: person, in: realm)?.id == known.id)
        try expectWon(await store.log.append(personal(person, at: 1, in: realm)))
        let first = Recorded.Personal.unreadable
        let expected: [Recorded.Personal] = loss == .erased ? [.erased, .none] : [first, opened]
        #expect(try await told([person], store, realm) == expected)
    }

    @Test func `lost keys fail no other command of the same flight`() async throws {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        let people = (0..<20).map { _ in newID() }
        for person in people { try expectWon(await store.log.append(personal(person, in: realm))) }
        var plug = try await Plug(store)
        try await plug.insert()
        async let answers = endings(store.log, people.map { personal($0, at: 1, in: realm) })
        try await plug.waitUntilQueued(people.count)
        let lost = people.prefix(5)
        for person in lost {
            try store.database.asSuperuser(
                "delete from urd.subject_key where realm = '\(realm)' and subject = '\(person)'")
        }
        try await plug.pull()
        for answer in await answers { try expectWon(answer.get()) }
        for person in people {
            let expected = lost.contains(person) ? [.unreadable, opened] : [opened, opened]
            #expect(try await told([person], store, realm) == expected)
        }
    }

    @Test func `lost keys seal nothing that is sent again after a broken connection`() async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, person) = (newRealm(), newID())
        try expectWon(await store.log.append(personal(person, in: realm)))
        let holder = try await Session(store.database.superuser)
        let watcher = try await Session(store.database.superuser)
        try await holder.holdHead(of: realm)
        let next = personal(person, at: 1, in: realm)
        async let outcome = ending(store.log, next)
        try await eventually("the committer waits") {
            try await watcher.waitingCommitters().count == 1
        }
        try await watcher.breakCommitters()
        try await holder.run("delete from urd.subject_key where realm = '\(realm)'")
        try await holder.run("commit")
        try expectWon(await outcome.get())
        #expect(try await told([person], store, realm) == [.unreadable, opened])
    }

    @Test func `lost keys are not demanded for a command that was committed the first time`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, person) = (newRealm(), newID())
        let encoded = try await CommitEncoder(keyring: store.keyring)
            .encode(personal(person, in: realm), epoch: 0)
        let waiter = await Waiter(encoded)
        defer { Task { await waiter.release() } }
        let batch = Batch(realm: realm, commands: [waiter.pending], isResent: true, isJudged: true)
        let (statement, parameters) = Flight.sending(batch)
        func send() async throws -> [AppendOutcome] {
            try await store.pool.run { connection throws(Postgres.Failure) in
                Flight.answers(try connection.execute(statement, parameters), batch)
            }
        }
        let first = Positions(epoch: 1, first: 1, count: 1)
        #expect(try await send() == [.won(first)])
        try store.database.asSuperuser("delete from urd.subject_key where realm = '\(realm)'")
        #expect(try await send() == [.duplicate(first)])
    }

    // MARK: - Memory

    @Test func `keys are kept in memory only after an event sealed under them was appended`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let (realm, person) = (newRealm(), newID())
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        let loser = personal(person, at: 3, in: realm)
        #expect(await ending(store.log, loser) == .success(.conflict))
        #expect(store.keyring.knownKey(of: person, in: realm) == nil)
        try expectWon(await store.log.append(personal(person, in: realm)))
        #expect(store.keyring.knownKey(of: person, in: realm) != nil)
        // Another connection may lead to a server that has less.
        let session = try await Session(store.database.superuser)
        try await session.breakCommitters()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        #expect(store.keyring.knownKey(of: person, in: realm) == nil)
    }

    @Test func `lost keys lose nothing while others erase, rotate and write`()
        async throws
    {
        let here = try TestStore()
        defer { here.log.close() }
        let there = try TestStore(here.database, master: here.master)
        defer { there.log.close() }
        let realm = newRealm()
        let people = (0..<24).map { _ in newID() }
        let erased = Set(people.prefix(12))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, person) in people.enumerated() {
                let node = index % 2 == 0 ? here : there
                group.addTask {
                    for version in 0..<12 {
                        try await write(personal(person, at: version, in: realm), on: node)
                    }
                }
                if erased.contains(person) {
                    group.addTask {
                        try await there.keyring.destroyKey(of: person, in: realm)
                    }
                }
            }
            group.addTask { for _ in 0..<5 { _ = try await here.keyring.rotate(realm) } }
            try await group.waitForAll()
        }
        for person in people {
            let told = try await told([person], here, realm)
            #expect(told.count == 12)
            if erased.contains(person) {
                #expect(told.allSatisfy { $0 == .erased || $0 == .none }, "\(told)")
            } else {
                #expect(told.allSatisfy { $0 == opened }, "\(told)")
            }
        }
    }

    /// Again where a rotation came between, as a caller would.
    private func write(_ commit: Commit, on node: TestStore) async throws {
        while true {
            let ended = await ending(node.log, commit)
            if ended == .failure(.contended) { continue }
            try expectWon(ended.get())
            return
        }
    }
}
