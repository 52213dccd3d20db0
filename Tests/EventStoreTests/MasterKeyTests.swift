import EventSourcing
import EventStore
import Postgres
import PostgresTesting
import Testing
import Values

/// A node that still has the old master key must not make keys that the new one does not open.
@Suite struct `A node whose master key was rotated away` {
    @Test func `a node with a rotated-away master key serves known realms and makes no keys`()
        async throws
    {
        let old = try TestStore()
        let known = newRealm()
        let fresh = newRealm()
        try expectWon(try await old.log.append(commit(to: newID(), in: known)))
        let new = try await rotated(old)

        #expect(try await refusal(of: commit(to: newID(), in: fresh), on: old) == .otherMasterKey)
        #expect(try await count("urd.realm_key where realm = '\(fresh)'", old) == 0)
        try expectWon(try await old.log.append(commit(to: newID(), in: known)))

        // Who has the new one makes them, and is read by none that has the old one.
        try expectWon(try await new.log.append(commit(to: newID(), in: fresh)))
        #expect(try await refusal(of: commit(to: newID(), in: fresh), on: old) == .otherMasterKey)
        #expect(try await new.keyring.realmsOfOtherMasters().isEmpty)
        #expect(try await old.keyring.isOfThisDatabase() == false)
    }

    @Test func `a node with a rotated-away master key gives no realm new keys`() async throws {
        let old = try TestStore()
        let realm = newRealm()
        try expectWon(try await old.log.append(commit(to: newID(), in: realm)))
        _ = try await rotated(old)
        await #expect(throws: LogFailure.otherMasterKey) { _ = try await old.keyring.rotate(realm) }
        #expect(try await count("urd.realm_key where realm = '\(realm)'", old) == 6)
    }

    @Test func `a node with a rotated-away master key loses no realm that it was creating`()
        async throws
    {
        for _ in 0..<5 {
            let old = try TestStore()
            try expectWon(try await old.log.append(commit(to: newID(), in: .system)))
            let made = try await withThrowingTaskGroup(of: RealmID?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let realm = newRealm()
                        let ended = await ending(old.log, commit(to: newID(), in: realm))
                        guard case .success = ended else { return nil }
                        return realm
                    }
                }
                let new = try await rotated(old)
                return try await group.reduce(into: [RealmID]()) { made, realm in
                    if let realm { made.append(realm) }
                }.map { ($0, new) }
            }
            for (realm, new) in made {
                #expect(try await new.log.events(from: 1, limit: 5, in: realm).count == 1)
                _ = try await new.keyring.keys(of: realm)
            }
        }
    }

    @Test func `a node with a master key waits for a rotation and finds its key`() async throws {
        let old = try TestStore()
        try expectWon(try await old.log.append(commit(to: newID(), in: .system)))
        let rotation = try await Session(old.database.application)
        try await rotation.run(
            """
            begin; lock table urd.realm_key in share row exclusive mode;
            update urd.realm_key set master = '\\x00'
            """)
        async let ended = ending(old.log, commit(to: newID(), in: newRealm()))
        try await eventually("it waits") {
            try await count(
                "pg_locks where relation = 'urd.realm_key'::regclass and not granted", old) > 0
        }
        try await rotation.run("commit")
        #expect(await ended == .failure(.otherMasterKey))
    }

    @Test func `the sealer halts at a realm that a rotation left behind, and says why`()
        async throws
    {
        let first = try TestStore()
        try expectWon(try await first.log.append(commit(to: newID(), in: .system)))
        let left = newRealm()
        try expectWon(try await first.log.append(commit(to: newID(), in: left)))
        let session = try await Session(first.database.superuser)
        try await session.run(
            "create table kept as select * from urd.realm_key where realm = '\(left)'")
        let new = try await rotated(first)
        // As a node left it that did not look.
        try await session.run(
            """
            update urd.realm_key k set master = o.master, wrapped = o.wrapped from kept o
            where (k.realm, k.purpose, k.version) = (o.realm, o.purpose, o.version)
            """)
        let sealer = Sealer(
            new.pool, keyring: new.keyring,
            settings: .init(directory: nil, recheck: .zero))
        try await sealer.sealOnce()
        #expect(sealer.states[left]?.halt == .otherMasterKey)
        #expect(sealer.states[.system]?.halt == nil)
        #expect(try await new.keyring.realmsOfOtherMasters() == [left])

        let mending = Keyring(new.pool, master: new.master, previous: [first.master])
        #expect(try await mending.rotateMaster() == 6)
        try await sealer.sealOnce()
        #expect(sealer.states[left]?.halt == nil)
    }

    /// A node with another master key, to which all keys were handed.
    private func rotated(_ old: TestStore) async throws -> TestStore {
        let master = MasterKey.generate()
        let rotating = Keyring(old.pool, master: master, previous: [old.master])
        #expect(try await rotating.rotateMaster() > 0)
        return try TestStore(old.database, master: master)
    }

    private func refusal(of commit: Commit, on node: TestStore) async throws -> LogFailure? {
        guard case .failure(let failure) = await ending(node.log, commit) else { return nil }
        return failure
    }

    private func count(_ rows: String, _ store: TestStore) async throws -> Int64 {
        try await store.pool.run { connection throws(Postgres.Failure) in
            try connection.executeOnce("select count(*) from \(rows)", Parameters())
                .int64(0, 0)
        }
    }
}
