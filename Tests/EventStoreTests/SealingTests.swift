import EventSourcing
import JSON
import PostgresTesting
import Testing
import Values

@testable import EventStore

@Suite struct `Sealed data` {
    private static let mail: JSONObject = ["mail": "someone@example.org"]

    private func personal(_ subject: UUID, in realm: RealmID, at version: Int = 0) -> Commit {
        commit(to: subject, at: version, in: realm, personal: Self.mail, subject: subject)
    }

    @Test func `sealed data opens in its own place alone`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let (one, two) = (newID(), newID())
        for subject in [one, two] {
            try expectWon(await store.log.append(personal(subject, in: realm)))
            try expectWon(await store.log.append(personal(subject, in: realm, at: 1)))
        }
        func swap(_ left: (UUID, Int), _ right: (UUID, Int)) throws {
            try store.database.asSuperuser(
                """
                begin;
                set local session_replication_role = replica;
                update urd.event e set sealed = (
                    select o.sealed from urd.event o where o.realm = e.realm
                        and (o.stream, o.version) = case
                            when (e.stream, e.version) = ('\(left.0)'::uuid, \(left.1))
                            then ('\(right.0)'::uuid, \(right.1))
                            else ('\(left.0)'::uuid, \(left.1)) end)
                where e.realm = '\(realm)' and (e.stream, e.version) in (
                    ('\(left.0)'::uuid, \(left.1)), ('\(right.0)'::uuid, \(right.1)));
                commit
                """)
        }
        // Of two people, and of two events of one person under one key.
        for (left, right) in [((one, 1), (two, 1)), ((one, 1), (one, 2))] {
            try swap(left, right)
            let swapped = try await store.log.stream(one, after: 0, in: realm)
            #expect(
                swapped.map(\.personal)
                    == [.unreadable, left.0 == right.0 ? .unreadable : .opened(Self.mail)])
            try swap(left, right)
            let events = try await store.log.stream(one, after: 0, in: realm)
            #expect(events.map(\.personal) == [.opened(Self.mail), .opened(Self.mail)])
        }
    }

    @Test func `a request's origin is sealed with the subjects of its events and nobody else`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let (one, other) = (newID(), newID())
        func event(of subject: UUID?, tellsOrigin: Bool = true) -> NewEvent {
            NewEvent(
                stream: one, name: "thing.done", revision: 1, subject: subject, open: ["number": 1],
                tellsOrigin: tellsOrigin)
        }
        var version = 0
        for events in [
            [event(of: nil), event(of: other)], [event(of: nil)],
            [event(of: nil, tellsOrigin: false)],
        ] {
            let origin = Origin(actor: "system", address: "203.0.113.7", at: testTime)
            try expectWon(
                await store.log.append(
                    Commit(
                        realm: realm, command: newID(), origin: origin, reads: [one: version],
                        events: events)))
            version += events.count
        }
        let address = Recorded.Personal.opened(["$address": "203.0.113.7"])
        func told() async throws -> [Recorded.Personal] {
            try await store.log.stream(one, after: 0, in: realm).map(\.personal)
        }
        #expect(try await told() == [.none, address, address, .none])
        try await store.keyring.destroyKey(of: other, in: realm)
        #expect(try await told() == [.none, .erased, address, .none])
    }

    @Test func `sealed data of many new subjects at once opens, except for erased ones`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        let realm = newRealm()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        // Both nodes bring keys for the same people, in whatever order; some are erased already.
        let people = (0..<60).map { _ in newID() }
        let erased = Set(people.prefix(10))
        for person in erased { try await store.keyring.destroyKey(of: person, in: realm) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (node, order) in [(store, people), (other, people.reversed())] {
                for person in order {
                    group.addTask {
                        try expectWon(
                            await node.log.append(
                                commit(
                                    to: newID(), in: realm, open: ["by": "\(person)"],
                                    personal: Self.mail, subject: person)))
                    }
                }
            }
            try await group.waitForAll()
        }
        let fresh = try TestStore(store.database, master: store.master)
        defer { fresh.log.close() }
        let events = try await fresh.log.events(from: 2, limit: 200, in: realm)
        #expect(events.count == 120)
        for event in events {
            let person = try #require(event.subject)
            #expect(event.personal == (erased.contains(person) ? .none : .opened(Self.mail)))
        }
        // Streams that are asked for together come each for itself.
        let streams = events.map(\.stream)
        try await withThrowingTaskGroup(of: (UUID, [Recorded]).self) { group in
            for stream in streams + [newID()] {
                group.addTask { (stream, try await fresh.log.stream(stream, after: 0, in: realm)) }
            }
            for try await (stream, found) in group {
                #expect(found == events.filter { $0.stream == stream })
            }
        }
        let first = try #require(streams.first)
        #expect(try await fresh.log.stream(first, after: 1, in: realm).isEmpty)
    }

    @Test func `sealed data does not open with another subject's key anywhere`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let (one, two) = (newID(), newID())
        for subject in [one, two] {
            try expectWon(await store.log.append(personal(subject, in: realm)))
        }
        try store.database.asSuperuser(
            """
            update urd.subject_key k set wrapped = (
                select o.wrapped from urd.subject_key o
                where o.realm = k.realm and o.subject = '\(two)')
            where k.realm = '\(realm)' and k.subject = '\(one)'
            """)
        let closed = try await store.log.stream(one, after: 0, in: realm)
        #expect(closed.map(\.personal) == [.unreadable])
        #expect(try await store.log.stream(two, after: 0, in: realm).count == 1)
        // Nor does a node that has yet to learn the key seal with it.
        let fresh = try TestStore(store.database, master: store.master)
        defer { fresh.log.close() }
        #expect(await ending(fresh.log, personal(one, in: realm, at: 1)) == .failure(.damaged))
    }

    @Test func `sealed data stays closed and untouched under a wrong master key`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let subject = newID()
        try expectWon(await store.log.append(personal(subject, in: realm)))
        let wrong = try TestStore(store.database, master: .generate())
        defer { wrong.log.close() }
        await #expect(throws: LogFailure.otherMasterKey) {
            _ = try await wrong.log.stream(subject, after: 0, in: realm)
        }
        #expect(
            await ending(wrong.log, personal(subject, in: realm, at: 1))
                == .failure(.otherMasterKey))
        #expect(
            await ending(wrong.log, commit(to: newID(), in: realm)) == .failure(.otherMasterKey))
        // It made no keys of its own beside those it could not open.
        let fresh = try TestStore(store.database, master: store.master)
        defer { fresh.log.close() }
        let events = try await fresh.log.stream(subject, after: 0, in: realm)
        #expect(events.map(\.personal) == [.opened(Self.mail)])
    }

    @Test func `sealed data is written and read by a node that missed a rotation`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        let realm = newRealm()
        let known = newID()
        try expectWon(await other.log.append(personal(known, in: realm)))
        for round in 1...3 {
            #expect(try await store.keyring.rotate(realm) == round)
            // Somebody new, and somebody whose key is cached.
            let new = newID()
            try expectWon(await other.log.append(personal(new, in: realm)))
            try expectWon(await other.log.append(personal(known, in: realm, at: round)))
            for node in [store, other] {
                let events = try await node.log.stream(new, after: 0, in: realm)
                #expect(events.map(\.personal) == [.opened(Self.mail)])
                let more = try await node.log.stream(known, after: 0, in: realm)
                #expect(more.allSatisfy { $0.personal == .opened(Self.mail) })
            }
        }
        // The old wrapping keys are gone.
        let session = try await Session(store.database.superuser)
        #expect(
            try await session.number(
                """
                select count(*) from urd.realm_key where realm = '\(realm)' and purpose = 'wrap'
                """) == 1)
    }

    @Test func `sealed data is never wrapped by a key that a rotation is about to drop`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        let realm = newRealm()
        _ = try await other.keyring.keys(of: realm)
        // The rotation stops right before its commit, when everything is done.
        try store.database.asSuperuser(
            """
            create function wait_for_gate() returns trigger language plpgsql as
                $$ begin perform pg_advisory_xact_lock(42); return null; end $$;
            create constraint trigger gate after delete on urd.realm_key
                deferrable initially deferred for each row execute function wait_for_gate()
            """)
        let gate = try await Session(store.database.superuser)
        let watcher = try await Session(store.database.superuser)
        try await gate.run("begin; select pg_advisory_xact_lock(42)")
        async let rotated = store.keyring.rotate(realm)
        let new = newID()
        async let written = ending(other.log, await late(new, realm, watcher))
        do {
            try await waitForLocks(2, watcher)
        } catch {
            try await gate.run("commit")
            throw error
        }
        try await gate.run("commit")
        #expect(try await rotated == 0)
        try expectWon(await written.get())
        let fresh = try TestStore(store.database, master: store.master)
        defer { fresh.log.close() }
        let events = try await fresh.log.stream(new, after: 0, in: realm)
        #expect(events.map(\.personal) == [.opened(Self.mail)])
    }

    /// A commit that is made once the rotation waits.
    private func late(_ subject: UUID, _ realm: RealmID, _ watcher: Session) async -> Commit {
        try? await waitForLocks(1, watcher)
        return personal(subject, in: realm)
    }

    private func waitForLocks(_ count: Int64, _ session: Session) async throws {
        try await eventually("\(count) wait for a lock", within: .seconds(10)) {
            try await session.number(
                """
                select count(*) from pg_stat_activity where datname = current_database()
                    and wait_event_type = 'Lock'
                """) == count
        }
    }
}
