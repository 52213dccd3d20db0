import EventSourcing
import JSON
import PostgresTesting
import Testing
import Values

@testable import EventStore

/// A stream of a person, two events of which are read and kept, and an append that relies on it.
@Suite struct `A stream that an append has shown to be as it was` {
    private let store: TestStore
    private let realm = newRealm()
    private let person = newID()

    init() async throws {
        store = try TestStore(lanes: 1)
        try expectWon(
            await store.log.append(
                commit(
                    to: person, events: 2, in: realm, personal: ["mail": "ann@example.org"],
                    subject: person)))
        try await keepKey()
    }

    /// Opening the first connection of the lane makes the keyring forget.
    private func keepKey() async throws {
        for _ in 0..<10 where store.keyring.knownKey(of: person, in: realm) == nil {
            var commit = relying(seals: person)
            commit.reads[person] = nil
            try expectWon(await store.log.append(commit))
        }
    }

    private func now() -> ContinuousClock.Instant { .now }

    /// An append to another stream that relies on the person's.
    private func relying(at version: Int = 2, seals: UUID? = nil) -> Commit {
        var commit = commit(
            to: newID(), in: realm, personal: seals == nil ? [:] : ["mail": "bob@example.org"],
            subject: seals)
        commit.reads[person] = version
        return commit
    }

    private func known(_ node: TestStore, since moment: ContinuousClock.Instant) -> [Recorded]? {
        let epoch = node.log.hub.epoch(of: realm)
        return node.log.proofs.find(person, in: realm, epoch: epoch, since: moment)?
            .opened { node.keyring.knownKey(of: $0, in: realm) }
    }

    @Test func `a read stream is known as of the moments before it was read, and no later`()
        async throws
    {
        defer { store.log.close() }
        let before = now()
        #expect(known(store, since: before) == nil)
        let read = try await store.log.stream(person, since: before, in: realm)
        #expect(try await store.log.stream(person, after: 0, in: realm) == read)
        #expect(
            read.count == 2
                && read.allSatisfy { $0.personal == .opened(["mail": "ann@example.org"]) })
        #expect(known(store, since: before) == read)
        #expect(known(store, since: now()) == nil)
    }

    @Test
    func `an append that relies on the stream and seals for its person is answered from memory`()
        async throws
    {
        defer { store.log.close() }
        let read = try await store.log.stream(person, since: now(), in: realm)
        let before = now()
        try expectWon(await store.log.append(relying(seals: person)))
        // The database would not answer.
        let session = try await Session(store.database.superuser)
        try await session.run(
            "set idle_in_transaction_session_timeout = 5000; begin; lock table urd.event")
        #expect(known(store, since: before) == read)
        let answer = try? await store.log.stream(person, since: before, in: realm)
        try await session.run("rollback")
        #expect(answer == read)
        #expect(known(store, since: now()) == nil)
    }

    @Test(arguments: [false, true])
    func `an append that seals nothing for the person shows nothing of the stream`(
        isOfAnother: Bool
    )
        async throws
    {
        defer { store.log.close() }
        _ = try await store.log.stream(person, since: now(), in: realm)
        let before = now()
        try expectWon(await store.log.append(relying(seals: isOfAnother ? newID() : nil)))
        #expect(known(store, since: before) == nil)
    }

    @Test func `an append that does not rely on the stream shows nothing of it`() async throws {
        defer { store.log.close() }
        _ = try await store.log.stream(person, since: now(), in: realm)
        let before = now()
        var commit = relying(seals: person)
        commit.reads[person] = nil
        try expectWon(await store.log.append(commit))
        #expect(known(store, since: before) == nil)
    }

    @Test func `a stream that another node went on with is shown by no append`() async throws {
        let other = try TestStore(store.database, master: store.master)
        defer {
            store.log.close()
            other.log.close()
        }
        _ = try await store.log.stream(person, since: now(), in: realm)
        try expectWon(await other.log.append(commit(to: person, at: 2, in: realm)))
        let before = now()
        // One that relies on what was is refused, and one that knows better says nothing of what was.
        #expect(try await store.log.append(relying(seals: person)) == .conflict)
        try expectWon(await store.log.append(relying(at: 3, seals: person)))
        #expect(known(store, since: before) == nil)
        #expect(try await store.log.stream(person, since: before, in: realm).count == 3)
    }

    @Test func `a stream that this node went on with is forgotten`() async throws {
        defer { store.log.close() }
        let before = now()
        _ = try await store.log.stream(person, since: before, in: realm)
        try expectWon(await store.log.append(commit(to: person, at: 2, in: realm)))
        #expect(known(store, since: before) == nil)
        #expect(try await store.log.stream(person, since: before, in: realm).count == 3)
    }

    @Test(arguments: [false, true])
    func `an erased person's stream is not opened from memory`(onThisNode: Bool) async throws {
        let other = try TestStore(store.database, master: store.master)
        defer {
            store.log.close()
            other.log.close()
        }
        let before = now()
        _ = try await store.log.stream(person, since: before, in: realm)
        try expectWon(await store.log.append(relying(seals: person)))
        let erasing = now()
        try await (onThisNode ? store : other).keyring.destroyKey(of: person, in: realm)
        if onThisNode { #expect(known(store, since: before) == nil) }
        // It seals nothing any more, and so shows nothing.
        try expectWon(await store.log.append(relying(seals: person)))
        #expect(known(store, since: erasing) == nil)
        let events = try await store.log.stream(person, since: erasing, in: realm)
        #expect(events.count == 2 && events.allSatisfy { $0.personal == .erased })
        #expect(known(store, since: erasing) == nil)
    }

    @Test func `a stream of another epoch is not known`() async throws {
        defer { store.log.close() }
        let before = now()
        let read = try await store.log.stream(person, since: before, in: realm)
        try store.database.asSuperuser("select urd.advance_epoch('\(realm)')")
        _ = try await store.log.head(of: realm)
        try await keepKey()
        #expect(known(store, since: before) == nil)
        // What an append of the new epoch relies on was not read in it.
        let later = now()
        var commit = relying(seals: person)
        commit.epoch = store.log.hub.epoch(of: realm)
        try expectWon(await store.log.append(commit))
        #expect(known(store, since: later) == nil)
        // A lane that opens its connection anew makes the keyring forget.
        for _ in 0..<10 where known(store, since: later) == nil {
            try await keepKey()
            #expect(try await store.log.stream(person, since: later, in: realm) == read)
        }
        #expect(known(store, since: later) == read)
    }

    @Test func `a stream with many events is not kept`() async throws {
        defer { store.log.close() }
        try expectWon(await store.log.append(commit(to: person, at: 2, events: 63, in: realm)))
        let before = now()
        #expect(try await store.log.stream(person, since: before, in: realm).count == 65)
        #expect(known(store, since: before) == nil)
    }
}
