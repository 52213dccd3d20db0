import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

/// A failover or a restore may take the tail of a log away. A node that still believes in that tail
/// must find out before it decides anything.
@Suite struct `A log that moved to a new epoch` {
    private func store() async throws -> (TestStore, RealmID) {
        let store = try TestStore()
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        return (store, realm)
    }

    /// Takes everything behind a position away, as a restore would, and moves to the next epoch.
    private func restore(_ store: TestStore, _ realm: RealmID, to position: Int64) throws {
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            delete from urd.event where realm = '\(realm)' and position > \(position);
            delete from urd.command where realm = '\(realm)' and position > \(position);
            update urd.stream s set version = (
                select count(*) from urd.event e where e.realm = s.realm and e.stream = s.stream)
                where s.realm = '\(realm)';
            delete from urd.stream where realm = '\(realm)' and version = 0;
            update urd.realm_log set position = \(position), epoch = epoch + 1
                where realm = '\(realm)';
            commit
            """)
    }

    private func advance(_ store: TestStore, _ realm: RealmID) throws {
        try store.database.asSuperuser("select urd.advance_epoch('\(realm)')")
    }

    @Test func `a new epoch fences a node's first append and then lets it go on`() async throws {
        let (store, realm) = try await store()
        defer { store.log.close() }
        for epoch in 2...3 {
            try advance(store, realm)
            let next = commit(to: newID(), in: realm)
            #expect(await ending(store.log, next) == .failure(.fenced))
            #expect(try expectWon(await store.log.append(next)).epoch == epoch)
        }
    }

    @Test func `a new epoch fences no other realm and no new node`() async throws {
        let (store, realm) = try await store()
        defer { store.log.close() }
        let other = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: other)))
        try advance(store, realm)
        try expectWon(await store.log.append(commit(to: newID(), in: other)))
        let fresh = try TestStore(store.database, master: store.master)
        defer { fresh.log.close() }
        try expectWon(await fresh.log.append(commit(to: newID(), in: realm)))
    }

    @Test func `a new epoch fences all earlier decisions, however long they were queued`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        var plug = try await Plug(store)
        try await plug.insert()
        // More than one batch of them.
        async let answers = endings(
            store.log, (0..<600).map { _ in commit(to: newID(), in: realm) })
        try await plug.waitUntilQueued(600)
        try advance(store, realm)
        try await plug.pull()
        #expect(await answers.allSatisfy { $0 == .failure(.fenced) })
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
    }

    @Test func `a new epoch makes the log read anew before the next decision`() async throws {
        let (store, realm) = try await store()
        defer { store.log.close() }
        let dispatcher = Dispatcher(log: store.log)
        let tally = newID()
        try await grow(dispatcher, tally, realm, to: 4)
        try restore(store, realm, to: 2)
        // Another node goes on from what is left: 1, and then 10 more.
        try await addElsewhere(10, tally, at: 1, store, realm)
        _ = try await dispatcher.dispatch(
            DoubleTally(tally: tally), in: realm, id: newID(), origin: origin)
        #expect(try await dispatcher.state(Tally.self, tally, in: realm).state.total == 22)
    }

    @Test func `a new epoch makes the log read anew also by nodes that learn of it late`()
        async throws
    {
        let (store, realm) = try await store()
        defer { store.log.close() }
        let dispatcher = Dispatcher(log: store.log)
        let tally = newID()
        // 1, 2, 4: three versions, all of them cached.
        try await grow(dispatcher, tally, realm, to: 4)
        try restore(store, realm, to: 2)
        // As many versions as before, and another sum.
        try await addElsewhere(10, tally, at: 1, store, realm)
        try await addElsewhere(10, tally, at: 2, store, realm)
        // Somebody else in this process reads a stream, and with it the new epoch.
        _ = try? await store.log.stream(tally, after: 0, in: realm)
        _ = try await dispatcher.dispatch(
            DoubleTally(tally: tally), in: realm, id: newID(), origin: origin)
        #expect(try await dispatcher.state(Tally.self, tally, in: realm).state.total == 42)
    }

    @Test func `a new epoch makes the log read anew before a rejection is returned`() async throws {
        let (store, realm) = try await store()
        defer { store.log.close() }
        let dispatcher = Dispatcher(log: store.log)
        let tally = newID()
        try await grow(dispatcher, tally, realm, to: 4)
        try restore(store, realm, to: 2)
        // What would have been refused before is allowed now.
        _ = try await dispatcher.dispatch(
            DoubleTally(tally: tally, limit: 4), in: realm, id: newID(), origin: origin)
        #expect(try await dispatcher.state(Tally.self, tally, in: realm).state.total == 2)
    }

    @Test func `a new epoch begins for every realm when the server's history changed`() async throws
    {
        let (store, realm) = try await store()
        defer { store.log.close() }
        let other = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: other)))
        try store.database.asSuperuser("update urd.timeline set timeline = '0000000F'")
        let session = try await Session(store.database.superuser)
        try await session.breakCommitters()
        // The committer's next connection notes the history.
        for realm in [realm, other] {
            let next = commit(to: newID(), in: realm)
            #expect(await ending(store.log, next) == .failure(.fenced))
            #expect(try expectWon(await store.log.append(next)).epoch == 2)
        }
        // And once is enough.
        try await session.breakCommitters()
        #expect(try expectWon(await store.log.append(commit(to: newID(), in: realm))).epoch == 2)
    }

    private var origin: Origin { Origin(actor: "system", at: testTime) }

    /// Doubles a tally until it is so much, and decides on it once more so that it is cached.
    private func grow(
        _ dispatcher: Dispatcher<PostgresLog>, _ tally: UUID, _ realm: RealmID, to total: Int64
    ) async throws {
        while try await dispatcher.state(Tally.self, tally, in: realm).state.total < total {
            _ = try await dispatcher.dispatch(
                DoubleTally(tally: tally), in: realm, id: newID(), origin: origin)
        }
        await #expect(throws: DoubleTally.Rejection.over(total)) {
            _ = try await dispatcher.dispatch(
                DoubleTally(tally: tally, limit: total), in: realm, id: newID(), origin: origin)
        }
    }

    private func addElsewhere(
        _ amount: Int64, _ tally: UUID, at version: Int, _ store: TestStore, _ realm: RealmID
    ) async throws {
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        var addition = commit(to: tally, at: version, in: realm)
        addition.events = [NewEvent(TallyEvent.added(amount), in: tally)]
        try expectWon(await other.log.append(addition))
    }
}
