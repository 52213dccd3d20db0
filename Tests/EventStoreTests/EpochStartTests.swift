import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

@Suite struct `Where an epoch began` {
    /// A realm with events; the server forgets those above `kept` and says to be another one.
    private func interrupted(
        at events: Int, keeping kept: Int, another change: String
    ) async throws -> (TestStore, RealmID, EpochHistory) {
        let store = try TestStore()
        let realm = newRealm()
        for _ in 0..<events {
            try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        }
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            delete from urd.event where realm = '\(realm)' and position > \(kept);
            update urd.realm_log set position = \(kept) where realm = '\(realm)';
            commit;
            \(change)
            """)
        let session = try await Session(store.database.superuser)
        try await session.breakCommitters()
        let next = commit(to: newID(), in: realm)
        _ = await ending(store.log, next)
        try expectWon(await store.log.append(next))
        return (store, realm, try await store.log.epochs(of: realm))
    }

    @Test func `a reader of a tail that a failover lost is told from where on`() async throws {
        let (store, _, history) = try await interrupted(
            at: 5, keeping: 2, another: "update urd.timeline set timeline = '00000000'")
        defer { store.log.close() }
        #expect(history.head == Head(epoch: 2, position: 3))
        #expect(history.starts == [.init(epoch: 2, after: 2)])
        #expect(history.standing(of: LogCursor(epoch: 1, position: 2)) == .valid)
        #expect(history.standing(of: LogCursor(epoch: 1, position: 3)) == .lost(keptTo: 2))
        #expect(history.standing(of: LogCursor(epoch: 2, position: 3)) == .valid)
    }

    @Test
    func `a log that goes on in another system takes an epoch far from those of the original`()
        async throws
    {
        let (store, _, history) = try await interrupted(
            at: 3, keeping: 3, another: "update urd.timeline set system = 1")
        defer { store.log.close() }
        #expect((1001...100_001).contains(history.head.epoch))
        #expect(history.starts == [.init(epoch: history.head.epoch, after: 3)])
        // The original went on, was promoted twice, and its readers come here.
        #expect(history.standing(of: LogCursor(epoch: 3, position: 9)) == .lost(keptTo: 0))
        #expect(history.standing(of: LogCursor(epoch: 1, position: 9)) == .lost(keptTo: 3))
    }

    @Test func `a volume that was set back shares what its own checkpoint covers and no more`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        for _ in 0..<5 { try expectWon(await store.log.append(commit(to: newID(), in: realm))) }
        try store.database.asSuperuser(
            """
            insert into urd.checkpoint (realm, size, root, note)
                values ('\(realm)', 3, sha256('x'), 'x')
            """)
        let application = try await Session(store.database.application)
        try await application.run("select urd.leave_epoch('\(realm)', 4)")
        // Nothing more happens to a realm that has left it.
        try await application.run("select urd.leave_epoch('\(realm)', 4)")
        let history = try await store.log.epochs(of: realm)
        #expect(history.head.position == 5)
        #expect((1004...100_004).contains(history.head.epoch))
        #expect(history.starts == [.init(epoch: history.head.epoch, after: 3, isLoss: true)])
    }

    @Test func `a loss that is known already is given up without the events that came since`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        func append() async throws {
            try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        }
        for _ in 0..<5 { try await append() }
        try store.database.asSuperuser(
            "insert into urd.checkpoint (realm, size, root, note) values ('\(realm)', 3, sha256('x'), 'x')"
        )
        let application = try await Session(store.database.application)
        try await application.run("select urd.leave_epoch('\(realm)', 4)")
        let seen = try await store.log.epochs(of: realm).head.epoch
        for _ in 0..<2 { try await append() }
        // As an operator does who accepts it.
        try await application.run("select urd.leave_epoch('\(realm)', \(seen))")
        let history = try await store.log.epochs(of: realm)
        #expect(
            history.starts.sorted { $0.epoch < $1.epoch } == [
                .init(epoch: seen, after: 3, isLoss: true),
                .init(epoch: history.head.epoch, after: 7),
            ])
        #expect(history.standing(of: LogCursor(epoch: seen, position: 7)) == .valid)
        #expect(history.standing(of: LogCursor(epoch: 1, position: 5)) == .lost(keptTo: 3))
        #expect(history.loss(since: 3) == 3 && history.loss(since: 4) == nil)
    }

    @Test func `the loss of a timeline is noted when it is seen, and not before`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        for _ in 0..<5 { try expectWon(await store.log.append(commit(to: newID(), in: realm))) }
        try store.database.asSuperuser(
            "update urd.realm_log set epoch = 2 where realm = '\(realm)'")
        #expect(try await store.log.epochs(of: realm).loss(since: 0) == nil)
        let application = try await Session(store.database.application)
        try await application.run("select urd.leave_epoch('\(realm)', 1)")
        let history = try await store.log.epochs(of: realm)
        #expect(history.head.epoch == 2)
        #expect(history.starts == [.init(epoch: 2, after: 5, isLoss: true)])
    }

    @Test func `appending notes no epoch`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        for _ in 0..<3 { try expectWon(await store.log.append(commit(to: newID(), in: realm))) }
        let history = try await store.log.epochs(of: realm)
        #expect(history == EpochHistory(head: Head(epoch: 1, position: 3), starts: []))
    }

    @Test func `a realm without a log has neither head nor epochs`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let history = try await store.log.epochs(of: newRealm())
        #expect(history == .none)
    }
}
