import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite(.timeLimit(.minutes(1))) struct `A feed with personal data` {
    private let path = "/api/admin/realms/acme/subscriptions"

    private func create(
        _ world: borrowing World, _ more: JSONObject = [:], key: BearerKey? = nil
    ) async throws -> Answered {
        let body: JSONObject = [
            "name": "CRM", "from": "start", "include": ["personal"], "to": "internal",
        ]
        return try await world.send(
            .post, path, body: .object(body.merging(more) { $1 }), key: key)
    }

    private func register(_ world: borrowing World, _ email: String) async throws -> UUID {
        let made = try await world.make(
            "/api/admin/realms/acme/accounts", ["email": .string(email)])
        return try #require(made.json["id"]?.string.flatMap { UUID($0) })
    }

    /// Its frames up to the registration of an account.
    private func frames(
        _ feed: inout OpenFeed, until account: UUID
    ) async throws -> [OpenFeed.Frame] {
        var frames: [OpenFeed.Frame] = []
        while let frame = await feed.next() {
            guard frame.event != "urd.progress" else { continue }
            frames.append(frame)
            if frame.event == "account.registered",
                frame.json["stream"]?.string == account.description
            {
                return frames
            }
        }
        Issue.record("The feed has ended.")
        return frames
    }

    @Test func `personal fields are sent once it is on record whose, and to no other feed`()
        async throws
    {
        let world = try await World()
        let ann = try await register(world, "ann@example.org")
        let id = try #require(try await create(world).json["id"]?.string)
        var open = try await world.follow("subscription=\(id)")
        var plain = try await world.follow("from=start&to=internal")
        _ = try await open.begin()
        _ = try await plain.begin()
        let shown = try #require(try await frames(&open, until: ann).last)
        #expect(shown.json["data"]?["email"] == "ann@example.org")
        #expect(shown.json["personal"] == "opened")
        let sealed = try #require(try await frames(&plain, until: ann).last)
        #expect(sealed.json["data"]?["email"] == nil)
        #expect(sealed.json["personal"] == "sealed")
        #expect(sealed.id == shown.id)
        // It is on record by whom, for which subscription, of which events and of whom.
        let logged = try await world.logged()
        let record = try #require(logged.first { $0.name == "personal_data.streamed" })
        guard case .streamed(let batch)? = DisclosureEvent(record) else {
            Issue.record("It is not the record of a batch.")
            return
        }
        #expect(batch.subscription.description == id)
        let position = try #require(shown.json["position"]?.integer)
        #expect(batch.positions.contains(position))
        #expect(batch.subjects.contains(ann))
        #expect(record.actor.hasPrefix("admin:"))
        await open.close()
        await plain.close()
    }

    @Test func `readers that share what is written of new events share nothing that was opened`()
        async throws
    {
        let world = try await World()
        let subscription = try await create(world, ["from": "now"]).json["id"]?.string
        var open = try await world.follow("subscription=\(try #require(subscription))")
        var plain: [OpenFeed] = []
        for _ in 0..<3 { plain.append(try await world.follow("from=now&to=internal")) }
        _ = try await open.begin()
        for index in plain.indices { _ = try await plain[index].begin() }
        for name in ["ann", "bob"] {
            let account = try await register(world, "\(name)@example.org")
            world.pass(seconds: 61)
            let shown = try #require(try await frames(&open, until: account).last)
            #expect(shown.json["data"]?["email"] == .string("\(name)@example.org"))
            for index in plain.indices {
                let sealed = try #require(try await frames(&plain[index], until: account).last)
                #expect(sealed.json["personal"] == "sealed" && sealed.id == shown.id)
                #expect(sealed.json["data"]?["email"] == nil)
            }
        }
        await open.close()
        for feed in plain { await feed.close() }
    }

    @Test func `the record of streamed personal data asks for no other record`() async throws {
        let world = try await World()
        let ann = try await register(world, "ann@example.org")
        let id = try #require(try await create(world).json["id"]?.string)
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        _ = try await frames(&feed, until: ann)
        var told: OpenFeed.Frame?
        while let frame = await feed.next() {
            told = frame
            if frame.event == "personal_data.streamed" { break }
        }
        #expect(told?.json["personal"] == "none")
        // A loop would turn each minute.
        for _ in 0..<3 {
            world.pass(seconds: 61)
            world.feeds.rings.wakeAll()
            try await Task.sleep(for: .milliseconds(100))
        }
        let records = try await world.logged().count { $0.name == "personal_data.streamed" }
        #expect(records == 1)
        await feed.close()
    }

    @Test func `what comes within a minute of a record waits for the next one, and in order`()
        async throws
    {
        let world = try await World()
        let ann = try await register(world, "ann@example.org")
        let id = try #require(try await create(world).json["id"]?.string)
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        _ = try await frames(&feed, until: ann)
        try await world.register("Before")
        let bob = try await register(world, "bob@example.org")
        let eve = try await register(world, "eve@example.org")
        try await Task.sleep(for: .milliseconds(150))
        #expect(try await world.logged().count { $0.name == "personal_data.streamed" } == 1)
        world.pass(seconds: 61)
        let seen = try await frames(&feed, until: eve)
        let positions = seen.compactMap { $0.json["position"]?.integer }
        #expect(positions == Array(positions[0]...positions[0] + Int64(positions.count) - 1))
        for (account, email) in [(bob, "bob@example.org"), (eve, "eve@example.org")] {
            let frame = seen.first {
                $0.event == "account.registered"
                    && $0.json["stream"]?.string == account.description
            }
            #expect(frame?.json["data"]?["email"] == .string(email))
        }
        let records = try await world.logged().filter { $0.name == "personal_data.streamed" }
        #expect(records.count == 2)
        await feed.close()
    }

    @Test func `a key without events_open neither makes nor reads nor keeps such a feed`()
        async throws
    {
        let world = try await World()
        let limited = try await world.limitedKey([.subscriptionsManage, .eventsRead])
        let opener = try await world.limitedKey([.subscriptionsManage, .eventsRead, .eventsOpen])
        let refused = try await create(world, key: limited)
        #expect(refused.problem == .forbidden && refused.json["field"] == "include")
        let made = try await create(world, key: opener)
        #expect(made.status == .created && made.json["include"] == ["personal"])
        let id = try #require(made.json["id"]?.string)
        let read = try await world.ask("subscription=\(id)", key: limited)
        #expect(read.problem == .forbidden)
        let change: JSON = ["name": "Mine"]
        #expect(
            try await world.send(.patch, "\(path)/\(id)", body: change, key: limited).problem
                == .forbidden)
        let narrowed = try await world.send(
            .patch, "\(path)/\(id)", body: ["include": []], key: limited)
        #expect(narrowed.status == .ok && narrowed.json["include"] == [])
        var feed = try await world.follow("subscription=\(id)", key: limited)
        _ = try await feed.begin()
        await feed.close()
    }

    @Test func `a reader whose subscription includes personal data no more has to come again`()
        async throws
    {
        let world = try await World()
        let ann = try await register(world, "ann@example.org")
        let id = try #require(try await create(world).json["id"]?.string)
        var feed = try await world.follow("subscription=\(id)")
        _ = try await feed.begin()
        _ = try await frames(&feed, until: ann)
        _ = try await world.send(.patch, "\(path)/\(id)", body: ["include": []])
        var last: OpenFeed.Frame?
        while let frame = await feed.next() { last = frame }
        #expect(last?.event == "urd.taken_over")
        var again = try await world.follow("subscription=\(id)")
        _ = try await again.begin()
        let shown = try #require(try await frames(&again, until: ann).last)
        #expect(shown.json["personal"] == "sealed")
        await again.close()
    }

    @Test func `erasures are told to each feed that ever had personal data, whatever its filter`()
        async throws
    {
        let world = try await World()
        let had = try #require(try await create(world).json["id"]?.string)
        let never = try #require(
            try await create(world, ["include": []]).json["id"]?.string)
        let narrow: JSON = ["include": [], "types": ["client.*"]]
        for id in [had, never] {
            _ = try await world.send(.patch, "\(path)/\(id)", body: narrow)
        }
        let ann = try await register(world, "ann@example.org")
        _ = try await world.send(.post, "/api/admin/realms/acme/accounts/\(ann)/erase")
        try await world.register("Last")
        for (id, isTold) in [(had, true), (never, false)] {
            var feed = try await world.follow("subscription=\(id)")
            _ = try await feed.begin()
            var types: Set<String> = []
            var name: JSON?
            while name != "Last", let frame = await feed.next() {
                if let type = frame.event { types.insert(type) }
                name =
                    frame.json["data"]?["metadata"]?["client_name"]
                    ?? frame.json["data"]?["client_name"]
            }
            #expect(types.contains("account.erased") == isTold)
            #expect(!types.contains("account.registered"))
            await feed.close()
        }
    }
}
