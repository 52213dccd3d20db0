import Cryptography
import EventSourcing
import EventStore
import JSON
import PostgresTesting
import Testing
import Values

@Suite struct `A page of the log that is read without keys` {
    private static let mail: JSONObject = ["mail": "someone@example.org"]
    private let realm = newRealm()

    @Test func `a page shows the events as they stand, and of sealed fields only that they are`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let people = (0..<3).map { _ in newID() }
        for person in people {
            try expectWon(
                await store.log.append(
                    commit(to: person, in: realm, personal: Self.mail, subject: person)))
        }
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        try await store.keyring.destroyKey(of: people[1], in: realm)
        try store.database.asSuperuser(
            "delete from urd.subject_key where subject = '\(people[2])'")
        let page = try await store.log.page(from: 1, limit: 10, in: realm)
        #expect(page.events.map(\.personal) == [.sealed, .erased, .unreadable, .none])
        #expect(page.head == Head(epoch: 1, position: 4))
        let opened = try await store.log.events(from: 1, limit: 10, in: realm)
        #expect(page.events.map(\.id) == opened.map(\.id))
        #expect(page.events.last == opened.last)
        #expect(page.events.map(\.stream) == opened.map(\.stream))
        #expect(page.events.map(\.subject) == opened.map(\.subject))
    }

    @Test func `a page tells the head and the epochs of its moment, also behind the last event`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        for _ in 0..<4 { try expectWon(await store.log.append(commit(to: newID(), in: realm))) }
        try store.database.asSuperuser(
            """
            update urd.realm_log set epoch = 2 where realm = '\(realm)';
            update urd.realm_log set epoch = 5 where realm = '\(realm)';
            """)
        let epochs = try await store.log.epochs(of: realm)
        #expect(epochs.head == Head(epoch: 5, position: 4))
        #expect(Set(epochs.starts.map(\.epoch)) == [2, 5])
        for (position, count) in [(Int64(1), 3), (3, 2), (5, 0), (99, 0)] {
            let page = try await store.log.page(from: position, limit: 3, in: realm)
            #expect(page.events.count == count)
            #expect(page.events.map(\.position) == (0..<count).map { position + Int64($0) })
            #expect(page.epochs.head == epochs.head)
            #expect(
                page.epochs.starts.sorted { $0.epoch < $1.epoch }
                    == epochs.starts.sorted { $0.epoch < $1.epoch })
        }
    }

    @Test func `a page of chosen positions is in order, unopened, and the same as one by one`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let person = newID()
        for _ in 0..<5 {
            try expectWon(
                await store.log.append(
                    commit(to: newID(), in: realm, personal: Self.mail, subject: person)))
        }
        let page = try await store.log.page(at: [5, 2, 99, 2, 4], in: realm)
        #expect(page.events.map(\.position) == [2, 4, 5])
        #expect(page.events.map(\.personal) == [.sealed, .sealed, .sealed])
        #expect(page.head == Head(epoch: 1, position: 5))
        let whole = try await store.log.page(from: 1, limit: 10, in: realm)
        #expect(page.events == whole.events.filter { [2, 4, 5].contains($0.position) })
        #expect(page.epochs == whole.epochs)
        let none = try await store.log.page(at: [], in: realm)
        #expect(none == LogPage(epochs: whole.epochs, events: []))
    }

    @Test func `a stretch of the log is read by types, whole or not at all`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        for number in 0..<20 {
            try expectWon(
                await store.log.append(
                    commit(to: newID(), in: realm, name: number % 3 == 0 ? "a.b" : "c.d")))
        }
        let whole = try await store.log.page(from: 1, limit: 30, in: realm)
        func read(_ first: Int64, _ span: Int64, _ types: [String] = ["a.b", "none"]) async throws
            -> (page: LogPage, last: Int64)?
        { try await store.log.page(from: first, span: span, types: types, in: realm) }
        for first in 1...22 as ClosedRange<Int64> {
            for span in [1, 2, 7, 30] as [Int64] {
                let found = try #require(try await read(first, span))
                #expect(found.last == min(first + span - 1, 20))
                #expect(
                    found.page.events
                        == whole.events.filter {
                            $0.name == "a.b" && (first..<first + span).contains($0.position)
                        })
                #expect(found.page.epochs == whole.epochs)
            }
        }
        #expect(try await read(1, 30, [])?.page.events.isEmpty == true)
        // One that is wanted, one that is not, and the last.
        for hole in [7, 12, 20] as [Int64] {
            try store.database.asSuperuser(
                """
                set session_replication_role = replica;
                create table public.hole as
                    select * from urd.event where realm = '\(realm)' and position = \(hole);
                delete from urd.event where realm = '\(realm)' and position = \(hole);
                """)
            #expect(try await read(1, 30) == nil)
            #expect(try await read(hole, 1) == nil)
            #expect(try await read(1, hole - 1)?.last == hole - 1)
            if hole < 20 { #expect(try await read(hole + 1, 30)?.last == 20) }
            try store.database.asSuperuser(
                """
                set session_replication_role = replica;
                insert into urd.event select * from public.hole; drop table public.hole;
                """)
        }
        #expect(try await read(1, 30)?.last == 20)
    }

    @Test func `a realm without a log has an empty page of epoch 0`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let page = try await store.log.page(from: 1, limit: 10, in: newRealm())
        #expect(page == LogPage(epochs: .none, events: []))
        let types = try await store.log.page(from: 1, span: 10, types: ["a.b"], in: newRealm())
        #expect(types?.page == page)
        #expect(types?.last == 0)
    }

    @Test func `an event's id is the first half of the hash of its canonical record`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let commit = commit(to: newID(), events: 2, in: realm)
        try expectWon(await store.log.append(commit))
        let page = try await store.log.page(from: 1, limit: 10, in: realm)
        try #require(page.events.count == 2)
        for event in page.events {
            let record = Record(
                at: event.at, command: event.command, data: JSON.object(event.open).canonical(),
                meta: Array(#"{"actor":"system"}"#.utf8), realm: realm.name,
                revision: event.revision, sealed: nil, stream: event.stream, subject: nil,
                type: event.name, version: event.version)
            #expect(event.leaf.bytes == record.leaf)
            #expect(event.id.bytes == Array(record.leaf.prefix(16)))
        }
        let stream = try await store.log.stream(commit.events[0].stream, after: 0, in: realm)
        #expect(stream.map(\.leaf) == page.events.map(\.leaf))
    }
}
