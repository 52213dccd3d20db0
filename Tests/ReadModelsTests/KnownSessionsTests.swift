import EventSourcing
import EventStore
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `A cached session` {
    private let world: World
    private let queries: ReadModelQueries
    private let account = UUID(high: 1, low: 1)
    private let client = UUID(high: 9, low: 9)
    private let session = UUID(high: 11, low: 1)
    private let realm: RealmID

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        queries = world.queries
        try world.open(session, of: account, at: client)
    }

    private func generation() async throws -> Int? {
        try await queries.ask(SessionLine.bySession, session, in: realm)?.session.generation
    }

    /// What no event tells of: only a look at the row itself shows it.
    private func mark(_ generation: Int) throws {
        try world.superuser.run("update urd.sessions_1 set generation = \(generation)")
    }

    @Test func `a cached session is not reread while nothing happened to it`() async throws {
        #expect(try await generation() == 0)
        try mark(7)
        #expect(try await generation() == 0)
        // Of others it does not depend.
        try world.append(
            [
                Happening(
                    "account.registered", UUID(high: 2, low: 1), version: 1,
                    #"{"mailbox":"\#(client)","confirmed":true,"origin":"code"}"#)
            ], in: "one")
        #expect(try await generation() == 0)
        try world.append(
            [Happening("session.refreshed", session, version: 2, #"{"generation":8}"#)], in: "one")
        #expect(try await generation() == 8)
    }

    @Test(arguments: [
        ("account.disabled", UUID(high: 1, low: 1), 2, "{}"),
        ("account.stamp_rotated", UUID(high: 1, low: 1), 2, "{}"),
        ("account.deleted", UUID(high: 1, low: 1), 2, #"{"subjects":[]}"#),
        (
            "account.access_removed", UUID(high: 1, low: 1), 2,
            #"{"client":"\#(UUID(high: 9, low: 9))","removals":1}"#
        ),
        ("session.ended", UUID(high: 11, low: 1), 2, #"{"reason":"signed_out"}"#),
    ])
    func `a cached session is over at the first request after its end`(
        _ type: String, _ stream: UUID, _ version: Int, _ data: String
    ) async throws {
        #expect(
            try await queries.ask(SessionLine.bySession, session, in: realm)?.session.isOver
                == false)
        try world.append([Happening(type, stream, version: version, data)], in: "one")
        #expect(
            try await queries.ask(SessionLine.bySession, session, in: realm)?.session.isOver == true
        )
    }

    @Test(arguments: [
        ("client.disabled", UUID(high: 9, low: 9)), ("client.deleted", UUID(high: 9, low: 9)),
        ("realm.disabled", UUID.zero),
    ])
    func `a cached session is over with its client and its realm`(_ type: String, _ stream: UUID)
        async throws
    {
        #expect(
            try await queries.ask(SessionLine.bySession, session, in: realm)?.session.isOver
                == false)
        try world.append([Happening(type, stream, version: 2)], in: "one")
        #expect(
            try await queries.ask(SessionLine.bySession, session, in: realm)?.session.isOver == true
        )
    }

    @Test func `a cached session is dropped with the epoch that it was read from`() async throws {
        #expect(try await generation() == 0)
        try mark(7)
        try world.superuser.run("update urd.realm_log set epoch = epoch + 1 where realm = 'one'")
        #expect(try await generation() == 7)
    }

    /// A token of the federation profile, below one below this session; and one that was exchanged from it.
    private func openBelow() throws -> [UUID] {
        let (middle, below, exchanged) = (
            UUID(high: 11, low: 2), UUID(high: 11, low: 3), UUID(high: 11, low: 4)
        )
        func opened(_ id: UUID, _ more: String) -> Happening {
            Happening(
                "session.opened", id, version: 1,
                """
                {"account":"\(account)","stamp":0,"client":"\(client)","client_id":"c",
                "scope":[],"resources":[],"amr":[],"opened_at":1,"offline":true,
                "expires_at":1900000000,\(more)}
                """)
        }
        func superiors(_ ids: UUID...) -> String {
            let names = ids.map { "\"\($0)\"" }.joined(separator: ",")
            return #""holder":"person","kid":"k","superiors":[\#(names)]"#
        }
        try world.append(
            [
                opened(middle, superiors(session)), opened(below, superiors(session, middle)),
                opened(exchanged, #""exchanged":"\#(session)","actors":[]"#),
            ], in: "one")
        return [middle, below, exchanged]
    }

    @Test func `a session is found with all above it, cached or not`() async throws {
        let ids = try openBelow()
        for _ in 0..<2 {
            for (id, above) in zip(ids, [[session], [session, ids[0]], [session]]) {
                let line = try #require(try await queries.ask(SessionLine.bySession, id, in: realm))
                #expect(line.session.id == id)
                #expect(Set(line.above.keys) == Set(above))
                for (key, view) in line.above { #expect(view.id == key && !view.isOver) }
            }
        }
    }

    @Test func `one that ended is over in every line that it stands in`() async throws {
        let ids = try openBelow()
        for id in ids { _ = try await queries.ask(SessionLine.bySession, id, in: realm) }
        try world.append(
            [Happening("session.ended", session, version: 2, #"{"reason":"signed_out"}"#)],
            in: "one")
        for id in ids {
            let line = try #require(try await queries.ask(SessionLine.bySession, id, in: realm))
            #expect(line.above[session]?.isOver == true)
            #expect(line.session.isOver == false)
        }
    }
}
