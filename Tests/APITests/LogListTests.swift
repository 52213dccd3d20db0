import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// The table of docs/reading-the-log.md, rule by rule for each list.
@Suite struct `A list of the log` {
    struct List: CustomTestStringConvertible {
        let path: String
        var query = ""
        var isNewestFirst = false

        var testDescription: String { "\(path)?\(query)" }

        func send(_ world: World, _ more: String = "") async throws -> Answered {
            let path = world.names.reduce(path) { path, name in
                path.replacing("{\(name.key)}", with: name.value)
            }
            let query = world.names.reduce(query) { query, name in
                query.replacing("{\(name.key)}", with: name.value)
            }
            let all = [query, more].filter { !$0.isEmpty }.joined(separator: "&")
            return try await world.send(.get, "/api/admin/realms/acme/" + path, query: all)
        }
    }

    static let lists = [
        List(path: "events"), List(path: "events", query: "type=client.*&type=session.*"),
        List(path: "events", query: "account={account_id}"), List(path: "audit-trail"),
        List(path: "audit-trail", query: "order=newest", isNewestFirst: true),
        List(path: "login-history", isNewestFirst: true),
        List(path: "accounts/{account_id}/login-history", isNewestFirst: true),
        List(path: "devices/{installation}/history"),
    ]

    private let acme = RealmID("acme")!

    private func positions(_ answer: Answered) -> [Int64] {
        answer.json["items"]?.array?.compactMap { $0["position"]?.integer } ?? []
    }

    static let following =
        lists.dropFirst(2).map(\.path) + ["mails", "notifications", "login-history/counts"]

    @Test(arguments: following)
    func `a list that follows the log says how far it is, and when to ask again`(
        _ path: String
    ) async throws {
        let world = try await World()
        let list = List(path: path, query: path == "events" ? "account={account_id}" : "")
        let head = try await world.log.head(of: acme).position
        let whole = try await list.send(world)
        #expect(whole.json["position"] == .integer(head), "\(whole.json)")
        #expect(whole.json["head"] == .integer(head))
        world.log.lag = 2
        let behind = try await list.send(world)
        #expect(behind.status == .ok)
        #expect(behind.json["position"] == .integer(head - 2))
        #expect(behind.json["head"] == .integer(head))
        guard path != "events" else { return }
        let asked = try await list.send(world, "min_position=acme:1:\(head - 1)")
        #expect(asked.problem == .positionNotReached)
        #expect(asked.json["position"] == .integer(head - 2))
        #expect(asked.json["head"] == .integer(head))
        #expect(asked.response.headers["Retry-After"] == "1")
        #expect(
            asked.json["detail"]?.string
                == "The list is at position \(head - 2), the log at \(head); \(head - 1) was asked "
                + "for. Ask again in 1 s.")
    }

    @Test(arguments: following.filter { $0 != "events" })
    func `a position from before a failover is refused only where it was lost`(_ path: String)
        async throws
    {
        let world = try await World()
        let list = List(path: path)
        let head = try await world.log.head(of: acme).position
        try await world.log.failOver(acme, keeping: head)
        #expect(try await list.send(world, "min_position=acme:1:\(head)").status == .ok)
        try await world.log.failOver(acme, keeping: head - 1)
        #expect(try await list.send(world, "min_position=acme:1:\(head - 1)").status == .ok)
        #expect(
            try await list.send(world, "min_position=acme:1:\(head)").problem == .positionLost)
    }

    @Test func `a list that is far behind, or stopped, is asked again later`() {
        func told(_ position: Int64, _ isHalted: Bool) -> Problem {
            Problem(
                notReached: 100_000,
                FollowedPosition(
                    epoch: 1, position: position, head: 100_000, isHalted: isHalted))
        }
        #expect(told(50_000, false).headers.map { $0.value } == ["11"])
        #expect(told(99_999, true).headers.map { $0.value } == ["60"])
        #expect(told(99_999, true).detail.contains("urd doctor says why"))
    }

    @Test(arguments: lists)
    func `a list of the log has a cursor with an epoch on its last page as well`(
        _ list: List
    ) async throws {
        let world = try await World()
        let whole = try await list.send(world, "limit=200")
        let found = positions(whole)
        #expect(whole.json["more"] == false && !found.isEmpty, "\(whole.json)")
        #expect(found == (list.isNewestFirst ? found.sorted(by: >) : found.sorted()))
        let next = try #require(whole.json["next"]?.string.flatMap { LogCursor($0) })
        let end = try #require(found.last)
        #expect(next.epoch == 1)
        #expect(list.isNewestFirst ? next.position == end : next.position >= end)
        let behind = try await list.send(world, "after=\(next)")
        #expect(behind.status == .ok && positions(behind).isEmpty)
        #expect(behind.json["next"] == .string(next.description))
        #expect(behind.json["more"] == false)
        let start = try await list.send(world, "after=1:0&limit=200")
        #expect(positions(start) == (list.isNewestFirst ? [] : found))
    }

    @Test(arguments: lists.filter { !$0.isNewestFirst })
    func `a list of the log goes on behind its last page with what happened since`(
        _ list: List
    ) async throws {
        let world = try await World()
        let next = try #require(try await list.send(world, "limit=200").json["next"]?.string)
        let head = try await world.log.head(of: acme).position
        let session = try #require(world.names["session_id"].flatMap { UUID($0) })
        try await world.happen(Session.self, .ended(.revoked), in: session)
        let installation = try #require(world.names["installation"].flatMap { Hex.decode($0) })
        try await world.happen(
            Client.self, .disabled, in: try #require(UUID(bytes: installation)))
        let wanted = list.query.contains("account") ? head + 1 : head + 2
        let since = positions(try await list.send(world, "after=\(next)"))
        #expect(since.last == wanted && since.allSatisfy { $0 > head }, "\(since)")
    }

    @Test(arguments: lists)
    func `a list of the log goes on in silence after a failover without loss`(
        _ list: List
    ) async throws {
        let world = try await World()
        let whole = positions(try await list.send(world, "limit=200"))
        let first = try await list.send(world, "limit=1")
        let next = try #require(first.json["next"]?.string)
        let head = try await world.log.head(of: acme).position
        try await world.log.failOver(acme, keeping: head)
        let rest = try await list.send(world, "after=\(next)&limit=200")
        #expect(positions(first) + positions(rest) == whole)
        #expect(rest.json["next"]?.string?.hasPrefix("2:") == true, "\(rest.json)")
    }

    @Test(arguments: lists)
    func `a list of the log says that it went back behind its reader`(_ list: List) async throws {
        let world = try await World()
        let head = try await world.log.head(of: acme).position
        // A list that goes back in time is read from its beginning, which is lost.
        let cursor = "1:\(head)"
        #expect(try await list.send(world, "after=\(cursor)").status == .ok)
        try await world.log.failOver(acme, keeping: head - 1)
        let lost = try await list.send(world, "after=\(cursor)")
        #expect(lost.problem == .positionLost && lost.status.code == 409)
        #expect(lost.json["kept_to"] == .integer(head - 1))
        let kept = try #require(lost.json["cursor"]?.string)
        #expect(kept == "2:\(head - 1)")
        #expect(try await list.send(world, "after=\(kept)").status == .ok)
        // What was read before that stays read.
        #expect(try await list.send(world, "after=1:\(head - 1)").status == .ok)
    }

    @Test(arguments: lists, ["1:999999", "AAAAAAAA", "1:-1", "01:1", "1", "1:1:1", ":"])
    func `a list of the log refuses what is no place in it`(
        _ list: List, _ cursor: String
    ) async throws {
        let world = try await World()
        let answer = try await list.send(world, "after=\(cursor)")
        #expect(answer.problem == .invalidParameter && answer.field == "after", "\(answer.json)")
    }
}

@Suite struct `The list of events` {
    private let path = "/api/admin/realms/acme/events"

    @Test func `the list of events shows each as the feed does, with its id and leaf`()
        async throws
    {
        let world = try await World()
        let page = try await world.send(.get, path, query: "limit=3")
        let items = try #require(page.json["items"]?.array)
        let events = try await world.log.page(
            from: 1, limit: 3, in: try #require(RealmID("acme"))
        ).events
        #expect(items.map { $0["id"]?.string } == events.map(\.id.description))
        #expect(items.map { $0["cursor"]?.string } == ["1:1", "1:2", "1:3"])
        let one = try await world.send(.get, path + "/2")
        #expect(one.json == items[1])
    }

    @Test func `the list of events is filtered by types and streams as the feed is`() async throws {
        let world = try await World()
        func types(_ query: String) async throws -> [String] {
            try await world.send(.get, path, query: "limit=1000&" + query).json["items"]?.array?
                .compactMap { $0["type"]?.string } ?? []
        }
        let all = try await types("")
        let clients = all.filter { $0.hasPrefix("client.") }
        #expect(try await types("type=client.*") == clients && !clients.isEmpty)
        #expect(
            try await types("type=client.*&not_type=client.registered")
                == clients.filter { $0 != "client.registered" })
        #expect(try await types("not_type=client.*") == all.filter { !$0.hasPrefix("client.") })
        let app = try #require(world.names["app_id"])
        #expect(try await types("stream=\(app)") == ["app.created"])
        let unknown = try await world.send(.get, path, query: "type=client.registred")
        #expect(unknown.problem == .invalidParameter && unknown.field == "type")
        #expect(unknown.json["detail"]?.string?.contains("client.registered") == true)
    }

    @Test func `a page of rare events says that there is more, and where to go on`() async throws {
        let world = try await World()
        let commit = Commit(
            realm: try #require(RealmID("acme")), command: .random(),
            origin: Origin(actor: "system", at: Timestamp(seconds: 1_800_000_000)),
            reads: [usual: 0],
            events: (0..<10_050).map { _ in
                NewEvent(stream: usual, name: "client.disabled", revision: 1, open: [:])
            })
        _ = try await world.log.append(commit)
        try await world.make("/api/admin/realms/acme/apps", ["slug": "rare", "name": "Rare"])
        let app = "type=app.created"
        let first = try await world.send(.get, path, query: app)
        #expect(first.json["items"]?.array?.count == 1 && first.json["more"] == true)
        let next = try #require(first.nextPage)
        let second = try await world.send(.get, path, query: "\(app)&after=\(next)")
        #expect(second.json["items"]?.array?.count == 1 && second.json["more"] == false)
    }

    private let usual = UUID(high: 0x0193_a0e7_5e0c_8000, low: 0x9000_0000_0000_0abc)

    // MARK: - Waiting

    @Test(arguments: ["", "&type=app.created"])
    func `an answer without events waits for the next one that is wanted`(
        _ condition: String
    ) async throws {
        let world = try await World()
        let end = try await world.send(.get, path, query: "limit=1000").json["next"]?.string ?? ""
        let waiting = try await world.send(.get, path, query: "after=\(end)&wait=30\(condition)")
        let stream = try #require(waiting.response.stream)
        let answer = Task { try await Self.whole(stream) }
        try await Task.sleep(for: .milliseconds(50))
        if !condition.isEmpty {
            try await world.make(
                "/api/admin/realms/acme/hosts", ["host": "other.acme.example"])
        }
        try await world.make("/api/admin/realms/acme/apps", ["slug": "late", "name": "Late"])
        let page = try await answer.value
        #expect(page["items"]?.array?.map { $0["type"] } == ["app.created"], "\(page)")
        #expect(page["more"] == false)
        let position = try #require(page["items"]?[0]?["position"]?.integer)
        #expect(page["next"] == .string("1:\(position)"))
    }

    @Test func `an answer that waited in vain is an empty page that goes on`() async throws {
        let world = try await World()
        let end = try await world.send(.get, path, query: "limit=1000").json["next"]?.string ?? ""
        let waiting = try await world.send(.get, path, query: "after=\(end)&wait=2")
        let stream = try #require(waiting.response.stream)
        let answer = Task { try await Self.whole(stream) }
        for _ in 0..<20 {
            world.feeds.rings.tick()
            try await Task.sleep(for: .milliseconds(10))
        }
        let page = try await answer.value
        #expect(page["items"] == [] && page["next"] == .string(end) && page["more"] == false)
        // Where there is something already, nothing waits.
        let now = try await world.send(.get, path, query: "wait=30&limit=1")
        #expect(now.response.stream == nil && now.json["items"]?.array?.count == 1)
    }

    @Test func `a key has so many answers waiting and no more`() async throws {
        let world = try await World()
        let end = try await world.send(.get, path, query: "limit=1000").json["next"]?.string ?? ""
        var held: [Answered] = []
        for _ in 0..<Feeds.mostOfKey {
            held.append(try await world.send(.get, path, query: "after=\(end)&wait=30"))
        }
        #expect(held.allSatisfy { $0.response.stream != nil })
        let refused = try await world.send(.get, path, query: "after=\(end)&wait=30")
        #expect(refused.problem == .tooManyFeeds)
    }

    private static func whole(_ stream: BodyStream) async throws -> JSON {
        let (pieces, sink) = AsyncStream.makeStream(of: [UInt8].self)
        try await stream.produce(BodyStream.Writer { sink.yield($0) })
        sink.finish()
        var bytes: [UInt8] = []
        for await piece in pieces { bytes += piece }
        return try JSON.parse(bytes)
    }
}
