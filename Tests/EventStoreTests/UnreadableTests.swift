import EventSourcing
import EventStore
import JSON
import PostgresTesting
import Synchronization
import Telemetry
import Testing
import Values

/// A key that is lost costs what it sealed, and nothing else.
@Suite struct `A sealed field that cannot be opened` {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])

        var log: Log {
            Log(
                sink: Log.Sink { [self] line, _ in
                    all.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
                })
        }

        func count(_ event: String) -> Int {
            all.withLock { $0.count { $0.contains(event) } }
        }
    }

    private static let mail: JSONObject = ["mail": "someone@example.org"]
    private let opened = Recorded.Personal.opened(Self.mail)
    private let lines = Lines()
    private let realm = newRealm()

    /// Four people with an event each, and what became of their keys: it is lost; it is another's; the
    /// person is erased; it is there. And a request of nobody's between them.
    private func damaged() async throws -> (store: TestStore, people: [UUID]) {
        let first = try TestStore()
        defer { first.log.close() }
        let people = (0..<4).map { _ in newID() }
        for person in people {
            try expectWon(
                await first.log.append(
                    commit(to: person, in: realm, personal: Self.mail, subject: person)))
        }
        try expectWon(await first.log.append(nobodys()))
        try first.database.asSuperuser(
            """
            delete from urd.subject_key where subject = '\(people[0])';
            update urd.subject_key set wrapped = (
                select o.wrapped from urd.subject_key o where o.subject = '\(people[3])')
                where subject = '\(people[1])'
            """)
        try await first.keyring.destroyKey(of: people[2], in: realm)
        let store = try TestStore(first.database, master: first.master, log: lines.log)
        return (store, people)
    }

    private func nobodys() -> Commit {
        var commit = commit(to: newID(), in: realm)
        commit.origin.address = "203.0.113.7"
        return commit
    }

    @Test func `an unreadable field leaves its page readable, counts each time and is logged once`()
        async throws
    {
        let (store, people) = try await damaged()
        defer { store.log.close() }
        for _ in 0..<3 {
            let page = try await store.log.events(from: 1, limit: 10, in: realm)
            #expect(
                page.map(\.personal) == [
                    .unreadable, .unreadable, .erased, opened,
                    .opened(["$address": "203.0.113.7"]),
                ])
        }
        #expect(try await store.log.events(at: [1, 4], in: realm).count == 2)
        #expect(
            try await store.log.stream(people[0], after: 0, in: realm).map(\.personal)
                == [.unreadable])
        #expect(store.metrics.render().contains("urd_unreadable_fields_total 8"))
        #expect(lines.count("event.unreadable") == 2)
    }

    @Test func `an unreadable field keeps nobody from writing, including its own subject`()
        async throws
    {
        let (store, people) = try await damaged()
        defer { store.log.close() }
        for person in [people[0], people[3]] {
            try expectWon(
                await store.log.append(
                    commit(to: person, at: 1, in: realm, personal: Self.mail, subject: person)))
            let told = try await store.log.stream(person, after: 1, in: realm)
            #expect(told.map(\.personal) == [opened])
        }
        // The key that a month's anonymous share is lost: the realm goes on, under another one.
        try store.database.asSuperuser(
            """
            delete from urd.subject_key where subject =
                (select subject from urd.event where realm = '\(realm)' and position = 5)
            """)
        try expectWon(await store.log.append(nobodys()))
        let page = try await store.log.events(from: 5, limit: 10, in: realm)
        #expect(page.first?.personal == .unreadable)
        #expect(page.last?.personal == .opened(["$address": "203.0.113.7"]))
    }

    @Test func `an unreadable field is counted by verify apart from erased ones, in an intact log`()
        async throws
    {
        let (store, people) = try await damaged()
        defer { store.log.close() }
        let verifier = LogVerifier(store.pool, keyring: store.keyring, directory: nil)
        let found = try await verifier.verify(realm)
        #expect(found.isIntact)
        #expect(found.unreadable.withoutKey == 1)
        #expect(found.unreadable.notOpened == 1)
        #expect(found.unreadable.first == 1)
        #expect(
            found.unreadable.description
                == "2 sealed events cannot be read, though they were not erased: of 1 the key is "
                + "missing, 1 are not opened by theirs; the first is at position 1.")
        let recent = try await verifier.unreadable(in: realm, amongLast: 4)
        #expect(recent.count == 1 && recent.first == 2)
        // Keys that were wrapped anew open as before, also for who has the old ones in memory.
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        _ = try await other.keyring.rotate(realm)
        #expect(try await verifier.verify(realm).unreadable == found.unreadable)
        // Where all can be read there is nothing to say.
        try store.database.asSuperuser(
            "insert into urd.subject_key (realm, subject, erased_at) values "
                + "('\(realm)', '\(people[0])', now()) on conflict do nothing; "
                + "update urd.subject_key set wrapped = null, wrapped_by = null, erased_at = now() "
                + "where subject = '\(people[1])'")
        let mended = try await verifier.verify(realm).unreadable
        #expect(mended.count == 0 && mended.description == nil)
    }
}
