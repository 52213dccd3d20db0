import EventSourcing
import HTTP
import Identity
import JSON
import Telemetry
import Testing
import Values

@testable import API

@Suite struct `The feed of a realm` {
    /// Those that audits are shown.
    private func shown(_ events: [Recorded]) -> [Recorded] {
        let hidden = Set(EventCatalogue.all.filter { $0.reach == .internal }.map(\.name))
        return events.filter { !hidden.contains($0.name) }
    }

    @Test func `a feed from the start has every event in order, and then each as it is appended`()
        async throws
    {
        let world = try await World()
        var feed = try await world.follow("from=start")
        let events = shown(try await world.logged())
        #expect(try await feed.begin().id == "1:0")
        for event in events {
            let frame = try #require(await feed.next())
            #expect(frame.id == "1:\(event.position)")
            #expect(frame.event == event.name)
            #expect(frame.json["position"] == .integer(event.position))
            #expect(frame.json["data"] == .object(event.shownFields))
        }
        for number in 1...3 {
            try await world.register("Late \(number)")
            let frame = try #require(await feed.next())
            #expect(frame.event == "client.registered")
            #expect(frame.json["data"]?["client_name"] == .string("Late \(number)"))
            #expect(frame.id == "1:\(try await world.logged().count)")
        }
        #expect(world.feeds.sent.value == UInt64(events.count + 3))
        await feed.close()
    }

    @Test func `a feed from now has what is appended later, and nothing before`() async throws {
        let world = try await World()
        var feed = try await world.follow()
        let head = try await world.logged().count
        #expect(try await feed.begin().id == "1:\(head)")
        try await world.register("Late")
        #expect(await feed.next()?.id == "1:\(head + 1)")
        await feed.close()
    }

    @Test func `a feed goes on behind the last event that its reader saw, whatever else is asked`()
        async throws
    {
        let world = try await World()
        let events = shown(try await world.logged())
        let (seen, next) = (events[3], events[4])
        for query in [nil, "from=start", "from=now", "from_time=2020-01-01"] {
            var feed = try await world.follow(query, lastEventID: "1:\(seen.position)")
            #expect(try await feed.begin().id == "1:\(seen.position)")
            #expect(await feed.next()?.id == "1:\(next.position)")
            await feed.close()
        }
        var feed = try await world.follow("from=1:\(seen.position)")
        #expect(try await feed.begin().id == "1:\(seen.position)")
        #expect(await feed.next()?.id == "1:\(next.position)")
        await feed.close()
    }

    @Test func `a feed from a time begins with the first event of that time and says where`()
        async throws
    {
        let world = try await World()
        let events = try await world.logged()
        let wanted = events[events.count / 2]
        let time = wanted.at.description
        var feed = try await world.follow("from_time=\(time)")
        let first = try #require(events.first { $0.at >= wanted.at })
        #expect(try await feed.begin().id == "1:\(first.position - 1)")
        await feed.close()
        var later = try await world.follow("from_time=2100-01-01")
        #expect(try await later.begin().id == "1:\(events.count)")
        await later.close()
    }

    @Test func `a feed of lines has the same events, each with its cursor`() async throws {
        let world = try await World()
        var feed = try await world.follow("from=start", accept: "application/x-ndjson")
        let first = try JSON.parse(Array(try #require(await feed.line()).utf8))
        #expect(first["type"] == "urd.progress")
        #expect(first["cursor"] == "1:0")
        for event in shown(try await world.logged()) {
            let line = try JSON.parse(Array(try #require(await feed.line()).utf8))
            #expect(line["cursor"] == .string("1:\(event.position)"))
            #expect(line["type"] == .string(event.name))
        }
        world.passTime(15)
        #expect(await feed.line() == "")
        await feed.close()
    }

    @Test func `an unnamed feed has no names of events but for what is no event`() async throws {
        let world = try await World()
        var feed = try await world.follow("from=start&unnamed=true")
        _ = try await feed.begin()
        let frame = try #require(await feed.next())
        #expect(frame.event == nil)
        #expect(frame.json["type"] == .string(try await world.logged()[0].name))
        await feed.close()
    }

    @Test(arguments: [
        ("application/json", ProblemKind?.some(.notAcceptable)),
        ("text/event-stream;q=0", .notAcceptable), ("text/html, image/*", .notAcceptable),
        ("*/*", nil), ("text/*", nil), ("application/json, application/x-ndjson;q=0.1", nil),
    ])
    func `a feed refuses to answer in a type that the request does not accept`(
        accept: String, problem: ProblemKind?
    ) async throws {
        let world = try await World()
        #expect(try await world.ask(accept: accept).problem == problem)
    }

    @Test func `a feed has the type that its request prefers`() {
        typealias Framing = FeedForm.Framing
        #expect(Framing(accepting: []) == .serverSentEvents)
        #expect(Framing(accepting: ["*/*"]) == .serverSentEvents)
        #expect(Framing(accepting: ["application/*"]) == .lines)
        #expect(
            Framing(accepting: ["text/event-stream;q=0.5, application/x-ndjson"]) == .lines)
        #expect(
            Framing(accepting: ["application/x-ndjson", "text/event-stream"])
                == .serverSentEvents)
        #expect(Framing(accepting: ["*/*;q=0.1, text/event-stream;q=0"]) == .lines)
        #expect(Framing(accepting: ["text/plain"]) == nil)
    }

    @Test func `a feed refuses places that there are not`() async throws {
        let world = try await World()
        let head = try await world.logged().count
        for (query, last, field) in [
            ("from=1:\(head + 1)", nil, "from"), ("from=01:1", nil, "from"),
            ("from=yesterday", nil, "from"), ("from=1", nil, "from"),
            (nil, "1:\(head + 1)", "Last-Event-ID"), (nil, "abc", "Last-Event-ID"),
            ("from_time=soon", nil, "from_time"),
            ("from=start&from_time=2020-01-01", nil, "from_time"),
        ] as [(String?, String?, String)] {
            let answer = try await world.ask(query, lastEventID: last)
            #expect(answer.problem == .invalidParameter, "\(query ?? last ?? "")")
            #expect(answer.field == field)
        }
        let beyond = try await world.ask("from=1:\(head + 1)")
        #expect(beyond.json["detail"]?.string?.contains("1:\(head)") == true)
        // An epoch that the log never had comes from another one.
        let lost = try await world.ask("from=7:1")
        #expect(lost.problem == .positionLost)
        #expect(lost.json["kept_to"] == 0)
        #expect(lost.json["cursor"] == "0:0")
        #expect(try await world.ask("from=0:0").status == .ok)
    }

    @Test func `a feed is silent for fifteen seconds at most`() async throws {
        let world = try await World()
        var feed = try await world.follow()
        _ = try await feed.begin()
        world.passTime(15)
        #expect(await feed.next()?.comment == "heartbeat")
        world.passTime(15)
        #expect(await feed.next()?.comment == "heartbeat")
        try await world.register("Late")
        #expect(await feed.next()?.event == "client.registered")
        await feed.close()
    }

    @Test func `a feed's reader hangs up and its place is free again`() async throws {
        let world = try await World()
        var open: [OpenFeed] = []
        for _ in 0..<Feeds.mostOfKey { open.append(try await world.follow()) }
        let refused = try await world.ask()
        #expect(refused.problem == .tooManyFeeds)
        #expect(refused.response.headers["Retry-After"] == "60")
        // Another key has its own.
        #expect(try await world.ask(key: world.narrowKey).status == .ok)
        await open.removeLast().close()
        #expect(try await world.ask().status == .ok)
        for feed in open { await feed.close() }
    }

    @Test func `a feed whose key is revoked ends with an error`() async throws {
        let world = try await World()
        var feed = try await world.follow(key: world.narrowKey)
        var other = try await world.follow()
        _ = try await feed.begin()
        _ = try await other.begin()
        await world.feeds.checkGrants()
        _ = try await world.send(.post, "/api/admin/keys/\(world.narrowKey.id)/revoke")
        await world.feeds.checkGrants()
        let frame = try #require(await feed.next())
        #expect(frame.event == "urd.error")
        #expect(frame.id == nil)
        #expect(frame.json["type"] == "/problems/unauthenticated")
        #expect(await feed.next() == nil)
        try await world.register("Late")
        #expect(await other.next()?.event == "client.registered")
        await other.close()
    }

    @Test func `a feed whose key cannot be looked up for long ends, and not at once`()
        async throws
    {
        let world = try await World()
        var feed = try await world.follow()
        _ = try await feed.begin()
        world.log.fail(with: .unavailable)
        for _ in 1..<15 { await world.feeds.checkGrants() }
        world.passTime(15)
        #expect(await feed.next()?.comment == "heartbeat")
        await world.feeds.checkGrants()
        #expect(await feed.next()?.json["type"] == "/problems/unavailable")
        #expect(await feed.next() == nil)
    }
}
