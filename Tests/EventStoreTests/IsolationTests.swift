import EventSourcing
import EventStore
import JSON
import PostgresTesting
import Testing
import Values

@Suite struct `A command that cannot be stored` {
    @Test func `a command that cannot be stored fails alone among many`() async throws {
        let store = try TestStore(lanes: 1)
        defer { store.log.close() }
        let realm = newRealm()
        let held = newID()
        let opening = commit(to: held, in: realm, claims: [.take(Claim("slot", "1"), for: held)])
        let first = try expectWon(await store.log.append(opening))

        var bad = commit(to: newID(), in: realm)
        // PostgreSQL knows no time so early.
        bad.origin.at = Timestamp(microseconds: .min / 4)
        var again = opening
        again.origin.at = testTime.adding(seconds: 1)
        let thief = newID()
        let losers = [
            again, commit(to: newID(), at: 3, in: realm),
            commit(to: thief, in: realm, claims: [.take(Claim("slot", "1"), for: thief)]),
        ]
        let winners = (0..<20).map { _ in commit(to: newID(), events: 2, in: realm) }
        let commits = Array(winners[..<10]) + [bad] + losers + Array(winners[10...])

        var plug = try await Plug(store)
        try await plug.insert()
        async let answers = endings(store.log, commits)
        try await plug.waitUntilQueued(commits.count)
        try await plug.pull()
        let found = await answers

        #expect(found[10] == .failure(.refused))
        #expect(found[11] == .success(.duplicate(first)))
        #expect(found[12] == .success(.conflict))
        #expect(found[13] == .success(.taken(kind: "slot")))
        for (index, answer) in found.enumerated() where !(10...13).contains(index) {
            try expectWon(answer.get())
        }
        let events = try await store.log.events(from: 1, limit: 100, in: realm)
        #expect(events.map(\.position) == Array(1...41))
        #expect(!events.contains { $0.command == bad.command })
    }

    @Test func `a command that cannot be stored fails alone, and the next one succeeds`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        var bad = commit(to: newID(), in: realm)
        for early in [Int64.min, Int64.min / 4] {
            bad.origin.at = Timestamp(microseconds: early)
            #expect(await ending(store.log, bad) == .failure(.refused))
        }
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
    }

    /// Whatever PostgreSQL would take and somebody could not read afterwards.
    private static let unreadable: [String: JSONObject] = [
        "U+0000 in a text": ["text": "a\u{0}b"],
        "U+0000 deep inside": ["list": [["object": ["text": "\u{0}"]]]],
        "U+0000 in a name": ["a\u{0}": 1],
        "a number that is not exact everywhere": ["number": .integer(1 << 53)],
        "too many levels": ["deep": (0..<64).reduce(JSON.null) { inner, _ in .array([inner]) }],
    ]

    @Test(arguments: unreadable.keys.sorted())
    func `a command that could not be read again is refused before it reaches the database`(
        what: String
    ) async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let fields = try #require(Self.unreadable[what])
        let stream = newID()
        let open = commit(to: stream, in: realm, open: fields)
        #expect(await ending(store.log, open) == .failure(.refused))
        let personal = commit(to: stream, in: realm, personal: fields, subject: stream)
        #expect(await ending(store.log, personal) == .failure(.refused))
        #expect(try await store.log.head(of: realm).position == 0)
    }

    @Test func `a command whose origin could not be read again is refused`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        var bad = commit(to: newID(), in: newRealm())
        bad.origin.correlation = "00-\u{0}"
        #expect(await ending(store.log, bad) == .failure(.refused))
    }

    @Test func `a command with the strangest allowed values is read back`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        let strange: JSONObject = [
            #"\u0000"#: #"\\u0000 \u0000"#, "": "\u{1}\u{7F}\u{2028}\u{FFFF}\u{1F600}",
            "numbers": [.integer((1 << 53) - 1), .integer(1 - (1 << 53))],
            "deep": (0..<62).reduce(JSON.null) { inner, _ in .array([inner]) },
        ]
        let stream = newID()
        try expectWon(
            await store.log.append(
                commit(to: stream, in: realm, open: strange, personal: strange, subject: stream)))
        let event = try #require(try await store.log.stream(stream, after: 0, in: realm).first)
        #expect(event.open == strange)
        #expect(event.personal == .opened(strange))
    }

    @Test func `a command with an impossible version is a conflict`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        for version in [Int.max, Int.min, Int(Int32.max), -1] {
            let absurd = commit(to: newID(), at: version, in: realm)
            #expect(await ending(store.log, absurd) == .success(.conflict), "\(version)")
        }
    }
}
