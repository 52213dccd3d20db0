import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

@Suite struct `A queue of commands` {
    @Test func `a full queue refuses commands at once and takes more when there is room`()
        async throws
    {
        let database = try TestCluster.shared.makeDatabase()
        let store = try TestStore(database, master: .generate(), lanes: 1, waiting: 64)
        defer { store.log.close() }
        var plug = try await Plug(store)
        try await plug.insert()
        let (crowded, other) = (newRealm(), newRealm())
        // One realm may have half of the places.
        async let crowd = endings(
            store.log, (0..<32).map { _ in commit(to: newID(), in: crowded) })
        try await plug.waitUntilQueued(32)
        let extra = commit(to: newID(), in: crowded)
        #expect(await ending(store.log, extra) == .failure(.busy))
        async let others = endings(store.log, (0..<32).map { _ in commit(to: newID(), in: other) })
        try await plug.waitUntilQueued(64)
        #expect(await ending(store.log, commit(to: newID(), in: newRealm())) == .failure(.busy))

        try await plug.pull()
        for answer in await crowd + others { try expectWon(answer.get()) }
        try expectWon(await store.log.append(extra))
    }

    @Test func `a queue drops commands of cancelled requests, unless others wait for them`()
        async throws
    {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        var plug = try await Plug(store)
        let realm = newRealm()
        _ = try await store.keyring.keys(of: realm)
        let (given, kept) = (commit(to: newID(), in: realm), commit(to: newID(), in: realm))
        try await plug.insert()
        let log = store.log
        let request = Task {
            await RequestScope.$current.withValue(RequestScope()) { await ending(log, given) }
        }
        // Whoever works for no request carries it out, whatever becomes of its task.
        let background = Task { await ending(log, kept) }
        try await plug.waitUntilQueued(2)
        request.cancel()
        background.cancel()
        let answer = await request.value
        #expect(answer == .failure(.unavailable), "While its lane was busy with another.")
        #expect(log.waiting == 1)
        try await plug.pull()
        try expectWon(await background.value.get())
        #expect(try await log.outcome(of: given.command, digest: [], in: realm) == nil)
        try expectWon(await log.append(given))
    }

    @Test func `a queue lets another realm's command pass after a few batches`() async throws {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        var plug = try await Plug(store)
        try await plug.insert()
        let (busy, calm) = (newRealm(), newRealm())
        // So many at once would find the way to a realm's first keys too narrow.
        for realm in [busy, calm] { _ = try await store.keyring.keys(of: realm) }
        async let crowd = endings(
            store.log, (0..<4_000).map { _ in commit(to: newID(), in: busy) })
        try await plug.waitUntilQueued(4_000)
        async let lone = ending(store.log, commit(to: newID(), in: calm))
        try await plug.waitUntilQueued(4_001)
        try await plug.pull()
        try expectWon(await lone.get())
        for answer in await crowd { try expectWon(answer.get()) }

        // A lane writes one batch after the other, so transactions are numbered in that order.
        let session = try await Session(store.database.superuser)
        let batches = try await session.number(
            "select count(distinct xmin::text) from urd.event where realm = '\(busy)'")
        #expect(batches >= 4_000 / 256)
        let before = try await session.number(
            """
            select count(distinct xmin::text) from urd.event where realm = '\(busy)'
                and xmin::text::bigint < (
                    select xmin::text::bigint from urd.event where realm = '\(calm)')
            """)
        #expect(before <= 2)
    }

    @Test func `a queue answers its commands when the log closes`() async throws {
        let store = try TestStore(lanes: 1)
        var plug = try await Plug(store)
        try await plug.insert()
        async let left = endings(
            store.log, (0..<10).map { _ in commit(to: newID(), in: newRealm()) })
        try await plug.waitUntilQueued(10)
        store.log.close()
        for answer in await left { #expect(answer == .failure(.unavailable)) }
        // What is in the air lands.
        try await plug.pull()
        #expect(await ending(store.log, commit(to: newID(), in: newRealm())) == .failure(.busy))
    }
}
