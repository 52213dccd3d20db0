import EventSourcing
import JSON
import Testing
import Values

@testable import EventStore

@Suite struct `News of a log` {
    @Test func `news of a log equal what a reader finds`() async throws {
        let store = try TestStore()
        let (realm, subject) = (newRealm(), newID())
        var both = commit(
            to: subject, events: 2, in: realm, open: ["news": 1], personal: ["mail": "a@b.example"],
            subject: subject)
        both.origin = Origin(
            actor: "user:one", client: "app", correlation: "trace", address: "192.0.2.1",
            userAgent: "agent", at: testTime)
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        try expectWon(await store.log.append(both))
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
        try expectWon(await store.log.append(commit(to: newID(), in: realm, open: ["news": 2])))
        let found = try await store.log.events(from: 1, limit: 10, in: realm)
        #expect(found.count == 5)
        #expect(await store.told() == [found[1], found[2], found[4]])
    }

    @Test func `news of a log contain no commands that lost or were repeated`() async throws {
        let store = try TestStore()
        let (realm, stream) = (newRealm(), newID())
        let first = commit(to: stream, in: realm, open: ["news": 1])
        try expectWon(await store.log.append(first))
        _ = try await store.log.append(first)
        _ = try await store.log.append(commit(to: stream, in: realm, open: ["news": 2]))
        try expectWon(
            await store.log.append(commit(to: stream, at: 1, in: realm, open: ["news": 3])))
        #expect(await store.told().map { $0.open["news"] } == [1, 3])
    }

    @Test func `news of a log contain no erased subjects`() async throws {
        let store = try TestStore()
        let (realm, subject) = (newRealm(), newID())
        let mail: JSONObject = ["mail": "a@b.example"]
        try expectWon(
            await store.log.append(
                commit(to: subject, in: realm, personal: mail, subject: subject)))
        try await store.keyring.destroyKey(of: subject, in: realm)
        try expectWon(
            await store.log.append(
                commit(
                    to: subject, at: 1, in: realm, open: ["news": 1], personal: mail,
                    subject: subject)))
        let found = try await store.log.events(from: 2, limit: 1, in: realm)
        let told = await store.told()
        #expect(told.map(\.personal) == [.none])
        #expect(told == found)
    }
}

extension TestStore {
    /// All that there was to tell. The log is closed, so that what was not told is missed and not waited for.
    fileprivate func told() async -> [Recorded] {
        log.close()
        var told: [Recorded] = []
        for await event in log.news { told.append(event) }
        return told
    }
}
