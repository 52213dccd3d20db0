import EventSourcing
import HTTP
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

extension World {
    /// Answers to the same request, so many times at once.
    fileprivate func sendAtOnce(
        _ count: Int, _ method: Method, _ path: String, body: JSON
    ) async throws -> [Answered] {
        try await withThrowingTaskGroup(of: Answered.self) { group in
            for _ in 0..<count {
                group.addTask { try await send(method, path, body: body) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

@Suite struct `Webhooks of a realm` {
    private let path = "/api/admin/realms/acme/webhooks"

    private func create(
        _ world: borrowing World, _ more: JSONObject = [:], key: String? = nil
    ) async throws -> Answered {
        let body: JSONObject = ["url": "https://crm.example.org/hook", "name": "CRM"]
        return try await world.send(
            .post, path, body: .object(body.merging(more) { $1 }), idempotencyKey: key)
    }

    @Test func `the secret is told when a webhook is created, and in repeats of it alone`()
        async throws
    {
        let world = try await World()
        let made = try await create(world, key: "one")
        let secret = try #require(made.json["secret"]?.string)
        #expect(secret.hasPrefix("whsec_"))
        let again = try await create(world, key: "one")
        #expect(again.json["secret"]?.string == secret)
        let id = try #require(made.json["id"]?.string)
        let shown = try await world.send(.get, "\(path)/\(id)")
        #expect(shown.status == .ok)
        #expect(shown.json["secret"] == nil)
        let list = try await world.send(.get, path)
        #expect(!String(decoding: list.json.canonical(), as: UTF8.self).contains("whsec_"))
        let events = try await world.send(.get, "/api/admin/realms/acme/events")
        let told = String(decoding: events.json.canonical(), as: UTF8.self)
        #expect(told.contains("subscription.created"))
        #expect(!told.contains("\"secret\""))
    }

    @Test func `the values of headers are told to nobody`() async throws {
        let world = try await World()
        let made = try await create(world, ["headers": ["Authorization": "Basic c2VjcmV0"]])
        #expect(made.status == .created)
        #expect(made.json["header_names"] == ["Authorization"])
        #expect(!String(decoding: made.json.canonical(), as: UTF8.self).contains("c2VjcmV0"))
    }

    @Test(arguments: [
        "http://crm.example.org/", "https://a@example.org/", "https://crm.example.org/#x",
    ])
    func `a webhook is refused with an address that is not safe`(_ url: String) async throws {
        let world = try await World()
        let answer = try await create(world, ["url": .string(url)])
        #expect(answer.status == .badRequest)
        #expect(answer.json["field"]?.string == "url")
    }

    @Test func `a webhook is paused, resumed and given another secret`() async throws {
        let world = try await World()
        let made = try await create(world)
        let one = path + "/" + (try #require(made.json["id"]?.string))
        let paused = try await world.send(.post, one + "/pause")
        #expect(paused.json["state"] == "paused")
        let resumed = try await world.send(.post, one + "/resume", body: ["from": "now"])
        #expect(resumed.json["state"] == "active")
        let both = try await world.send(
            .post, one + "/resume", body: ["from": "now", "starts_after": 1])
        #expect(both.status == .badRequest)
        let stopped = try await world.send(
            .post, one + "/resume", body: ["from": "stop", "starts_after": 1])
        #expect(stopped.status == .badRequest && stopped.json["field"] == "from")
        let rotated = try await world.send(.post, one + "/secret", body: ["keep_old": 3600])
        let secret = try #require(rotated.json["secret"]?.string)
        #expect(secret != made.json["secret"]?.string)
        #expect(try await world.send(.delete, one).status == .noContent)
        #expect(try await world.send(.get, one).problem == .noSuchWebhook)
        #expect(try await world.send(.post, one + "/pause").problem == .noSuchWebhook)
    }

    @Test func `personal data is sent only where a key with events.open says so`() async throws {
        let world = try await World()
        let limited = try await world.limitedKey([.subscriptionsManage])
        let opener = try await world.limitedKey([.subscriptionsManage, .eventsOpen])
        var body: JSONObject = ["url": "https://crm.example.org/hook", "name": "CRM"]
        #expect(
            try await world.send(.post, path, body: .object(body), key: limited).status == .created)
        body["include"] = ["personal"]
        let refused = try await world.send(.post, path, body: .object(body), key: limited)
        #expect(refused.problem == .forbidden && refused.json["field"] == "include")
        let made = try await world.send(.post, path, body: .object(body), key: opener)
        #expect(made.status == .created && made.json["include"] == ["personal"])
        let one = path + "/" + (try #require(made.json["id"]?.string))
        // Elsewhere it would be sent to another.
        let moved: JSON = ["url": "https://evil.example.org/hook"]
        #expect(try await world.send(.patch, one, body: moved, key: limited).status == .forbidden)
        #expect(
            try await world.send(.patch, one, body: ["include": []], key: limited).status == .ok)
        #expect(
            try await world.send(.patch, one, body: ["include": ["personal"]], key: limited)
                .status == .forbidden)
        #expect(
            try await world.send(.patch, one, body: ["include": ["personal"]], key: opener).status
                == .ok)
    }

    @Test func `what is sent and in which form is told as it was set`() async throws {
        let world = try await World()
        let stream = "0193a0e7-5e0c-8000-9000-2f6b1c1d9a14"
        let asked: JSONObject = [
            "types": ["account.*"], "not_types": ["account.disabled"], "streams": [.string(stream)],
            "to": "audit", "format": "cloudevents", "order": "none", "signature": "v1a",
            "filter": "actor pr", "description": "Leads for sales",
        ]
        let made = try await create(world, asked)
        for (name, value) in asked { #expect(made.json[name] == value, "\(name)") }
        let wrong = try await create(world, ["not_types": ["account.baked"]])
        #expect(
            wrong.status == .badRequest
                && wrong.json["field"]?.string?.hasPrefix("not_types") == true)
        let unread = try await create(world, ["filter": "actor"])
        #expect(unread.problem == .invalidFilter && unread.json["at"] == 5)
        let path = "/api/admin/realms/acme/webhooks/\(made.json["id"]?.string ?? "")"
        let all = try await world.send(.patch, path, body: ["filter": .null])
        #expect(all.status == .ok && all.json["filter"] == nil, "\(all.json)")
        #expect(all.json["description"] == "Leads for sales")
        let none = try await world.send(.patch, path, body: ["description": .null])
        #expect(none.status == .ok && none.json["description"] == nil, "\(none.json)")
        let long = try await world.send(
            .patch, path, body: ["description": .string(String(repeating: "x", count: 201))])
        #expect(long.status == .badRequest && long.json["field"] == "description")
        let twice = try await world.send(
            .patch, path, body: ["headers": ["X-A": "1", "x-a": "2"]])
        #expect(twice.status == .badRequest && twice.json["field"] == "headers")
    }

    /// One of each kind is there already.
    @Test(arguments: [Subscription.Kind.webhook, .feed])
    func `a realm has as many subscriptions as it may have, however many are asked for at once`(
        _ kind: Subscription.Kind
    ) async throws {
        let world = try await World()
        let path = kind == .webhook ? path : "/api/admin/realms/acme/subscriptions"
        let body: JSON =
            kind == .webhook
            ? ["url": "https://crm.example.org/hook", "name": "CRM"] : ["name": "Index"]
        let made = try await world.sendAtOnce(kind.limit + 15, .post, path, body: body)
        let created = made.filter { $0.status == .created }
        #expect(created.count == kind.limit - 1)
        let refusal = kind == .webhook ? ProblemKind.tooManyWebhooks : .tooManySubscriptions
        #expect(made.filter { $0.problem == refusal }.count == 16)
        #expect(try await world.send(.post, path, body: body).problem == refusal)
        // A place that is given back is the next one's.
        let first = try #require(created.first?.json["id"]?.string)
        #expect(try await world.send(.delete, "\(path)/\(first)").status == .noContent)
        let answers = try await world.sendAtOnce(5, .post, path, body: body)
        #expect(answers.filter { $0.status == .created }.count == 1)
        let list = try await world.send(.get, path, query: "limit=200")
        #expect(list.json["items"]?.array?.count == kind.limit)
    }

    @Test func `a repeat finds its webhook also where the realm is full`() async throws {
        let world = try await World()
        let made = try await create(world, key: "one")
        for _ in 2..<Subscription.Kind.webhook.limit { _ = try await create(world) }
        #expect(try await create(world).problem == .tooManyWebhooks)
        let again = try await create(world, key: "one")
        #expect(again.status == .created && again.json["id"] == made.json["id"])
    }
}
