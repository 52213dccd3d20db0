import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A feed whose cursor is kept` {
    private let path = "/api/admin/realms/acme/subscriptions"

    private func create(
        _ world: borrowing World, _ more: JSONObject = ["from": "start"]
    ) async throws -> String {
        let body: JSONObject = ["name": "Index", "to": "internal"]
        let made = try await world.make(path, .object(body.merging(more) { $1 }))
        return try #require(made.json["id"]?.string)
    }

    private func acknowledge(
        _ world: borrowing World, _ id: String, _ cursor: String
    ) async throws -> Answered {
        try await world.send(.post, "\(path)/\(id)/ack", body: ["cursor": .string(cursor)])
    }

    @Test func `a reader begins behind what it confirmed, and not behind what it was sent`()
        async throws
    {
        let world = try await World()
        let id = try await create(world)
        var feed = try await world.follow("subscription=\(id)")
        #expect(try await feed.begin().id == "1:0")
        let frames = await feed.next(4)
        #expect(frames.map(\.id) == (1...4).map { "1:\($0)" })
        await feed.close()
        var again = try await world.follow("subscription=\(id)")
        #expect(try await again.begin().id == "1:0")
        #expect(try await acknowledge(world, id, "1:3").status == .noContent)
        await again.close()
        for last in ["1:4", "1:2", nil] {
            var later = try await world.follow("subscription=\(id)", lastEventID: last)
            #expect(try await later.begin().id == "1:3")
            #expect(await later.next()?.id == "1:4")
            await later.close()
        }
        let shown = try await world.send(.get, "\(path)/\(id)")
        #expect(shown.json["cursor"] == "1:3")
        #expect(shown.json["lag"] == .integer(Int64(try await world.logged().count - 3)))
    }

    @Test func `a subscription from now or behind a cursor begins there, also when it is old`()
        async throws
    {
        let world = try await World()
        let head = try await world.logged().count
        let now = try await create(world, [:])
        let third = try await create(world, ["from": "1:3"])
        try await world.register("Late")
        for (id, start) in [(now, head), (third, 3)] {
            var feed = try await world.follow("subscription=\(id)")
            #expect(try await feed.begin().id == "1:\(start)")
            #expect(await feed.next()?.id == "1:\(start + 1)")
            await feed.close()
        }
        let beyond = try await world.send(
            .post, path, body: ["name": "Index", "from": "1:9999"])
        #expect(beyond.problem == .invalidParameter)
        #expect(beyond.field == "from")
    }

    @Test func `a cursor moves neither back nor beyond what was sent`() async throws {
        let world = try await World()
        let id = try await create(world)
        #expect(try await acknowledge(world, id, "1:0").status == .noContent)
        #expect(try await acknowledge(world, id, "1:1").problem == .cursorOutOfRange)
        var feed = try await world.follow("subscription=\(id)&take_over=true")
        _ = try await feed.begin()
        _ = await feed.next(2)
        let sent = try await world.logged().count
        #expect(try await acknowledge(world, id, "1:2").status == .noContent)
        #expect(try await acknowledge(world, id, "1:2").status == .noContent)
        // It is confirmed already.
        #expect(try await acknowledge(world, id, "1:1").status == .noContent)
        let beyond = try await acknowledge(world, id, "1:\(sent + 1)")
        #expect(beyond.problem == .cursorOutOfRange && beyond.status == .conflict)
        #expect(beyond.json["acknowledged"] == "1:2")
        let told = try #require(beyond.json["sent"]?.string.flatMap { LogCursor($0) })
        #expect(told.epoch == 1 && (2...Int64(sent)).contains(told.position))
        #expect(try await acknowledge(world, id, "7:2").problem == .positionLost)
        #expect(try await acknowledge(world, id, "1:02").problem == .invalidField)
        await feed.close()
    }

    @Test func `a plan that removes a subscription leaves its reader alone, and an apply does not`()
        async throws
    {
        let world = try await World()
        let id = try await create(world)
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        let subscription = try #require(UUID(id))
        let plan = try await world.configure("plan", ["subscriptions": [:]], prune: true)
        #expect(plan.json["changes"]?.array?.isEmpty == false)
        #expect(world.feedCursors.reader(of: subscription) != nil)
        let applied = try await world.configure("apply", ["subscriptions": [:]], prune: true)
        #expect(applied.status == .ok)
        #expect(world.feedCursors.reader(of: subscription) == nil)
        await feed.close()
    }

    @Test func `one reader has a subscription until it goes, or is silent for thirty seconds`()
        async throws
    {
        let world = try await World()
        let id = try await create(world)
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        for _ in 0..<5 {
            let held = try await world.ask("subscription=\(id)")
            #expect(held.problem == .subscriptionHeld)
            #expect(held.status == .conflict)
            #expect(held.json["held_until"]?.string != nil)
        }
        world.feedCursors.pass(seconds: 29)
        #expect(try await world.ask("subscription=\(id)").problem == .subscriptionHeld)
        await world.feeds.leases.renew(world.feedCursors)
        world.feedCursors.pass(seconds: 29)
        #expect(try await world.ask("subscription=\(id)").problem == .subscriptionHeld)
        await feed.close()
        var next = try await world.follow("subscription=\(id)")
        _ = try await next.begin()
        // What it is sent renews the lease: all of that is over.
        #expect(await next.next() != nil)
        // As if its node was gone.
        world.feedCursors.pass(seconds: 31)
        var heir = try await world.follow("subscription=\(id)")
        #expect(try await heir.begin().id == "1:0")
        await next.close()
        await heir.close()
    }

    @Test func `a reader whose place is taken is told so and sent nothing more`() async throws {
        let world = try await World()
        let id = try await create(world, ["types": ["client.*"]])
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        var other = try await world.follow("subscription=\(id)&take_over=true")
        _ = try await other.begin()
        let frame = try #require(await feed.next())
        #expect(frame.event == "urd.taken_over")
        #expect(frame.id == nil)
        #expect(await feed.next() == nil)
        // By a reader of another node: it learns so at its next event, which it is not sent.
        world.feedCursors.take(try #require(UUID(id)))
        try await world.register("Late")
        #expect(await other.next()?.event == "urd.taken_over")
        #expect(await other.next() == nil)
        #expect(try await world.ask("take_over=true").problem == .invalidParameter)
    }

    @Test func `a silent reader learns within a round that its place was taken on another node`()
        async throws
    {
        let world = try await World()
        let id = try await create(world, ["types": ["client.*"]])
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        world.feedCursors.take(try #require(UUID(id)))
        await world.feeds.leases.renew(world.feedCursors)
        #expect(await feed.next()?.event == "urd.taken_over")
    }

    @Test func `a database that is away holds up a kept feed, which then goes on`() async throws {
        let world = try await World()
        let id = try await create(world, ["types": ["client.*"]])
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        world.feedCursors.set(isDown: true)
        #expect(try await world.ask("subscription=\(id)").problem == .unavailable)
        try await world.register("Late")
        world.feedCursors.set(isDown: false)
        #expect(await feed.next()?.event == "client.registered")
        await feed.close()
    }

    @Test func `a deleted subscription ends its feed and is not found`() async throws {
        let world = try await World()
        let id = try await create(world, ["types": ["client.*"]])
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        #expect(try await world.send(.delete, "\(path)/\(id)").status == .noContent)
        #expect(await feed.next()?.json["type"] == "/problems/no-such-subscription")
        #expect(await feed.next() == nil)
        #expect(try await world.ask("subscription=\(id)").problem == .noSuchSubscription)
        #expect(try await acknowledge(world, id, "1:1").problem == .noSuchSubscription)
        let events = try await world.logged().map(\.name)
        #expect(events.suffix(2) == ["subscription.created", "subscription.deleted"])
    }

    @Test
    func `a feed of a subscription sends what the subscription says and takes no other conditions`()
        async throws
    {
        let world = try await World()
        let id = try await create(
            world, ["from": "start", "types": ["client.*"], "to": "audit"])
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        let events = try await world.logged().filter { $0.name.hasPrefix("client.") }
        for event in events { #expect(await feed.next()?.id == "1:\(event.position)") }
        await feed.close()
        let changed = try await world.send(
            .patch, "\(path)/\(id)", body: ["types": ["account.*"]])
        #expect(changed.json["types"] == ["account.*"])
        for query in [
            "from=start", "from_time=2020-01-01", "type=client.*", "not_type=client.*", "to=audit",
            "stream=\(id)", "account=\(id)", "client=desk", "shard=0/2",
        ] {
            let answer = try await world.ask("subscription=\(id)&\(query)")
            #expect(answer.problem == .invalidParameter, "\(query)")
            #expect(answer.field == query.split(separator: "=").first.map(String.init))
        }
    }

    @Test func `a reader that has events which the log lost is told`() async throws {
        let world = try await World()
        let id = try await create(world)
        let lost = try await world.ask("subscription=\(id)", lastEventID: "7:3")
        #expect(lost.problem == .positionLost)
        #expect(lost.json["kept_to"] == 0)
        // The subscription is free: nothing was taken in hand.
        #expect(try await world.ask("subscription=\(id)").status == .ok)
    }

    @Test func `a webhook is no subscription of the feed, and the other way round`() async throws {
        let world = try await World()
        let id = try await create(world)
        let webhook = try #require(world.names["webhook_id"])
        #expect(try await world.ask("subscription=\(webhook)").problem == .noSuchSubscription)
        #expect(
            try await world.send(.delete, "\(path)/\(webhook)").problem == .noSuchSubscription)
        for (method, more) in [
            (Method.get, ""), (.delete, ""), (.post, "/pause"), (.post, "/secret"),
        ] {
            let answer = try await world.send(
                method, "/api/admin/realms/acme/webhooks/\(id)\(more)",
                body: more == "/secret" ? ["keep_old": 3600] : nil)
            #expect(answer.problem == .noSuchWebhook, "\(method) \(more)")
        }
        let listed = try await world.send(.get, "/api/admin/realms/acme/webhooks")
        #expect(listed.json["items"]?.array?.compactMap { $0["id"]?.string } == [webhook])
    }
}
