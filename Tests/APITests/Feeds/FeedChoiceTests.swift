import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `What a feed sends, and how it is written` {
    @Test func `a feed about an account has what the index says, also what does not name it`()
        async throws
    {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let session = try #require(world.names["session_id"].flatMap { UUID($0) })
        var feed = try await world.follow("from=start&to=internal&account=\(account)")
        _ = try await feed.begin()
        var found: [String] = []
        while let event = await feed.next()?.event {
            found.append(event)
            if event == "session.opened" { break }
        }
        #expect(found.contains("account.registered"))
        #expect(found.contains("owner.appointed"))
        #expect(!found.contains("client.registered"))
        // It ends a session that named the account when it was opened.
        try await world.register("Late")
        try await world.happen(Session.self, .ended(.revoked), in: session)
        var ended: OpenFeed.Frame?
        while let frame = await feed.next(), ended == nil {
            #expect(frame.json["data"]?["client_name"] != "Late")
            if frame.event == "session.ended" {
                ended = frame
                break
            }
        }
        #expect(ended?.json["stream"] == .string(session.description))
        await feed.close()
    }

    @Test func `a feed about a client and an account has what is about both`() async throws {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let client = try #require(world.names["client_id"])
        var feed = try await world.follow("from=start&to=internal&client=\(client)")
        _ = try await feed.begin()
        #expect(await feed.next()?.event == "client.registered")
        await feed.close()
        var both = try await world.follow(
            "from=start&to=internal&client=\(client)&account=\(account)")
        _ = try await both.begin()
        world.passTime(5)
        // Nothing is about both: the place moves on.
        #expect(await both.next()?.event == "urd.progress")
        await both.close()
        let unknown = try await world.ask("client=no-such")
        #expect(unknown.problem == .invalidParameter)
        #expect(unknown.field == "client")
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson"])
    func `a feed of CloudEvents has them in either framing, and a cursor for each`(
        accept: String
    ) async throws {
        let world = try await World()
        let head = try await world.logged().count
        var feed = try await world.follow("format=cloudevents", accept: accept)
        let isSSE = accept == "text/event-stream"
        if isSSE { _ = try await feed.begin() } else { _ = await feed.line() }
        try await world.register("Late")
        let event: JSON
        if isSSE {
            let frame = try #require(await feed.next())
            #expect(frame.id == "1:\(head + 1)")
            #expect(frame.event == "client.registered")
            event = frame.json
        } else {
            event = try JSON.parse(Array(try #require(await feed.line()).utf8))
            #expect(event["urdcursor"] == .string("1:\(head + 1)"))
        }
        #expect(event["specversion"] == "1.0")
        #expect(event["type"] == "dev.urd.client.registered")
        #expect(event["source"] == "https://id.acme.example")
        #expect(event["data"]?["client_name"] == "Late")
        let id = try #require(try await world.logged().last?.id)
        #expect(event["id"] == .string(id.description))
        await feed.close()
        var plain = try await world.follow("from=1:\(head)")
        _ = try await plain.begin()
        #expect(await plain.next()?.json["specversion"] == nil)
        await plain.close()
    }
}

@Suite struct `The feed for clients of a realm` {
    private func token(_ world: SignInWorld, _ scope: String) async throws -> String {
        try await world.register(
            "reader", ["grant_types": ["client_credentials"], "scope": .string(scope)],
            secret: "hush")
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials"), ("scope", scope)],
            basic: "reader:hush")
        return try #require(answer.json["access_token"]?.string)
    }

    private func ask(
        _ world: SignInWorld, _ token: String, _ query: String? = nil
    ) async throws -> Answered {
        try await world.send(
            Request(
                method: .get, path: "/api/feed", query: query,
                headers: [
                    "Host": "id.acme.example", "Authorization": "Bearer \(token)",
                    "Accept": "text/event-stream",
                ], source: "203.0.113.7", id: "request-1"))
    }

    @Test
    func `a feed of a client with the scope has the events that services act on and no others`()
        async throws
    {
        let world = try await SignInWorld()
        let token = try await token(world, "events.read")
        var feed = try OpenFeed(try await ask(world, token).response)
        _ = try await feed.begin()
        try await world.carryOut(RealmChange.setSettings(["registration": "off"]))
        try await world.carryOut(
            Happening<Account>(event: .disabled(), stream: UUID.random()))
        let frame = try #require(await feed.next())
        #expect(frame.event == "account.disabled")
        await feed.close()
    }

    @Test(arguments: [
        ("to=audit", "to"), ("to=internal", "to"), ("type=client.registered", "type"),
        ("type=account.disabled&type=realm.settings_changed", "type"),
    ])
    func `a client that asks for more than it may be told is refused`(
        query: String, field: String
    ) async throws {
        let world = try await SignInWorld()
        let token = try await token(world, "events.read")
        let answer = try await ask(world, token, query)
        #expect(answer.status == .forbidden)
        for name in ["leaves=all", "include=record", "subscription=\(UUID.random())"] {
            #expect(try await ask(world, token, name).status == .badRequest)
        }
        #expect(try await ask(world, token, "to=services&type=account.*").status == .ok)
    }

    @Test func `a client without the scope is refused`() async throws {
        let world = try await SignInWorld()
        let token = try await token(world, "jobs")
        let answer = try await ask(world, token)
        #expect(answer.status == .forbidden)
        #expect(answer.problem == .insufficientScope)
        #expect(try await ask(world, "nonsense").status == .unauthorized)
    }

    @Test func `a client's feed ends when its token expires`() async throws {
        let world = try await SignInWorld()
        let token = try await token(world, "events.read")
        var feed = try OpenFeed(try await ask(world, token).response)
        _ = try await feed.begin()
        world.clock.advance(seconds: 100_000)
        for _ in 0..<7300 { world.feeds.rings.tick() }
        var frame = await feed.next()
        while frame?.comment == "heartbeat" { frame = await feed.next() }
        #expect(frame?.event == "urd.error")
        #expect(frame?.json["type"] == "/problems/invalid-token")
        #expect(await feed.next() == nil)
    }

    @Test func `a disabled client's feed ends`() async throws {
        let world = try await SignInWorld()
        let token = try await token(world, "events.read")
        var feed = try OpenFeed(try await ask(world, token).response)
        _ = try await feed.begin()
        await world.feeds.checkGrants()
        let client = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm).last {
                $0.name == "client.registered"
            })
        try await world.carryOut(ClientChange.disable(client.stream))
        await world.feeds.checkGrants()
        let frame = try #require(await feed.next())
        #expect(frame.json["type"] == "/problems/unauthenticated")
    }
}
