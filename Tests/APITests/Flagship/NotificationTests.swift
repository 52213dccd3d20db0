import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An app's notification to the owner` {
    @Test func `COZ-22: an app that notifies the owner gets the notification's document`()
        async throws
    {
        let notified = try await NotifiedWorld()
        let answer = try await notified.send([
            "category": "balance", "category_id": "my-bank", "title": "Low", "state": "low",
            "preferred_channels": ["mobile"], "data": ["appName": "Banks", "n": 3],
        ])
        #expect(answer.status == .created)
        #expect(answer.response.headers["Content-Type"] == "application/vnd.api+json")
        let data = try #require(answer.json["data"])
        #expect(data["type"] == "io.cozy.notifications")
        let id = try #require(data["id"]?.string.flatMap { UUID($0) })
        let attributes = try #require(data["attributes"])
        #expect(attributes["source_id"] == "cozy/oauth//balance/my-bank")
        #expect(attributes["originator"] == "oauth")
        #expect(attributes["slug"] == "")
        #expect(attributes["title"] == "Low")
        #expect(attributes["priority"] == "high")
        #expect(attributes["preferred_channels"] == nil && attributes["at"] == nil)
        let requested = try #require(
            try await notified.world.happened("notification.requested").first)
        #expect(requested.stream == id)
        #expect(requested.subject == notified.world.account)
    }

    @Test func `COZ-22: a notification may be sent as JSON or as JSON:API`() async throws {
        let notified = try await NotifiedWorld()
        let body: JSON = ["data": ["attributes": ["category": "plain", "title": "Hello"]]]
        for (type, status) in [
            ("application/vnd.api+json", Status.created),
            ("application/json; charset=utf-8", .created), ("text/plain", .badRequest),
        ] {
            let answer = try await notified.world.world.send(
                Request(
                    method: .post, path: "/notifications", query: nil,
                    headers: [
                        "Host": "id.acme.example", "Content-Type": type,
                        "Authorization": "Bearer \(notified.access)",
                    ], body: body.canonical(), source: "203.0.113.7", id: "request-1"))
            #expect(answer.status == status, "\(type)")
        }
    }

    @Test func `COZ-22: a notification needs an admitted app that declared its category`()
        async throws
    {
        let notified = try await NotifiedWorld()
        #expect(try await notified.send(["category": "other"]).status == .forbidden)
        #expect(
            try await notified.send(["category": "other"]).json["errors"]?[0]?["detail"]
                == "Not authorized to send notification")
        let none = try await notified.world.send(
            .post, "/notifications", json: ["data": [:]])
        #expect(none.status == .unauthorized)
        #expect(none.json["error"] == "No token in request")
        let wrong = try await notified.send(bearer: "urd_at_x")
        #expect(wrong.status == .badRequest && wrong.json["error"] == "Invalid JWT token")
        // Categories are the sender's own.
        let other = try await notified.world.certified("Other")
        let access = try #require(
            try await notified.world.login(other).json["access_token"]?.string)
        #expect(try await notified.send(bearer: access).status == .forbidden)
        #expect(try await notified.world.happened("notification.requested").isEmpty)
    }

    @Test func `a notification cannot be sent to another realm`() async throws {
        let (one, other) = (try await NotifiedWorld(), try await NotifiedWorld())
        #expect(try await one.send(bearer: other.access).status == .badRequest)
        #expect(try await one.world.happened("notification.requested").isEmpty)
    }

    @Test(arguments: [
        ("files", false), ("io.cozy.notifications", true), ("io.cozy.notifications:POST", true),
        ("io.cozy.notifications:GET", false), ("io.cozy.notifications.other", false),
        ("io.cozy.notifications:GET,ALL", true), ("io.cozy.notifications:POST:x:y", false),
        ("*", true), ("", false),
    ])
    func `a notification needs the scope for notifications`(_ scope: String, _ allowed: Bool) {
        #expect(NotificationScope.allows(["a", scope]) == allowed)
    }

    @Test func `COZ-22: a notification may come from an app with that scope alone`() async throws {
        let notified = try await NotifiedWorld()
        let world = notified.world
        for (scope, status) in [
            ("io.cozy.notifications:POST", Status.created), ("files", .forbidden),
        ] {
            let app = try await world.registerDevice(
                "Banks", nil, nil, NotifiedWorld.categories, software: "registry://banks/stable")
            let answer = try await notified.send(bearer: try await world.consented(app, scope))
            #expect(answer.status == status, "\(scope)")
            guard status == .created else { continue }
            #expect(answer.json["data"]?["attributes"]?["slug"] == "banks")
            #expect(
                answer.json["data"]?["attributes"]?["source_id"] == "cozy/oauth/banks/plain/")
        }
    }

    @Test func `COZ-22: a notification may come from a web app with the registry's permission`()
        async throws
    {
        let world = try await FlagshipWorld()
        let (_, access) = try await world.owned()
        let card: JSONObject = [
            "kind": "app", "slug": "banks", "name": "My banks",
            "notifications": ["balance": ["stateful": true]],
        ]
        try await world.add(
            card.merging(["permissions": ["io.cozy.notifications:POST", "files"]]) { $1 })
        try await world.add(card.merging(["slug": "mute", "permissions": ["files"]]) { $1 })
        try await world.add(
            card.merging([
                "kind": "konnector", "slug": "bank", "permissions": ["io.cozy.notifications"],
            ]) { $1 })
        func token(_ slug: String) async throws -> String {
            let opened = try await world.open(slug, access)
            return try #require(opened.json["data"]?["attributes"]?["Token"]?.string)
        }
        func notify(
            _ token: String, _ category: String = "balance", _ members: JSON = [:]
        ) async throws -> Answered {
            try await world.send(
                .post, "/notifications",
                json: [
                    "data": [
                        "type": "io.cozy.notifications",
                        "attributes": [
                            "category": .string(category), "title": "Low", "data": members,
                        ],
                    ]
                ], bearer: token)
        }
        let banks = try await token("banks")
        let answer = try await notify(banks)
        #expect(answer.status == .created)
        let attributes = answer.json["data"]?["attributes"]
        #expect(attributes?["originator"] == "app")
        #expect(attributes?["slug"] == "banks")
        #expect(attributes?["source_id"] == "cozy/app/banks/balance/")
        let last = try #require(try await world.happened("notification.requested").last)
        #expect(last.open["slug"] == "banks")
        #expect(try await notify(banks, "other").status == .forbidden)
        #expect(try await notify(try await token("mute")).status == .forbidden)
        let konnector = try await world.send(
            .post, "/auth/tokens/konnectors/bank", bearer: access
        ).json.string
        let fetched = try await notify(try #require(konnector))
        #expect(fetched.json["data"]?["attributes"]?["originator"] == "konnector")
        // It is a way to nothing else.
        for (method, path) in [
            (Method.get, "/settings/clients"), (.post, "/settings/synchronized"),
            (.get, "/settings/instance"), (.post, "/auth/session_code"),
        ] {
            let refused = try await world.send(method, path, bearer: banks)
            #expect([401, 403].contains(refused.status.code), "\(path)")
        }
    }

    private static let wrong: [(JSONObject, Status)] = [
        (["title": ""], Status.badRequest), (["category": .null], .badRequest),
        (["title": ["a"]], .unprocessable), (["message": "a\u{0}"], .unprocessable),
        (["priority": "loud"], .unprocessable), (["at": "tomorrow"], .unprocessable),
        (["at": "9999-01-01T00:00:00Z"], .unprocessable),
        (["preferred_channels": "mail"], .unprocessable),
        (["preferred_channels": ["pigeon"]], .unprocessable), (["data": []], .unprocessable),
        (["data": ["a": "\u{0}"]], .unprocessable), (["state": ["a\u{0}"]], .unprocessable),
        (["title": .string(String(repeating: "a", count: 201))], .unprocessable),
        (["message": .string(String(repeating: "a", count: 2_001))], .unprocessable),
        (["data": ["a": .string(String(repeating: "a", count: 2_048))]], .unprocessable),
    ]

    @Test func `COZ-22: a notification's state may be any JSON, told of once`() async throws {
        let notified = try await NotifiedWorld()
        for state: JSON in [true, ["low": 1, "of": ["a"]], ["low": 2, "of": ["a"]], 7] {
            for _ in 0..<2 {
                let answer = try await notified.send(["category": "balance", "state": state])
                #expect(answer.status == .created)
                #expect(answer.json["data"]?["attributes"]?["state"] == state)
            }
        }
        #expect(try await notified.world.happened("notification.requested").count == 4)
    }

    @Test(arguments: wrong)
    func `an invalid notification is refused with the member at fault`(
        _ attributes: JSONObject, _ status: Status
    ) async throws {
        let notified = try await NotifiedWorld()
        let answer = try await notified.send(attributes)
        #expect(answer.status == status)
        #expect(answer.json["errors"]?[0]?["status"]?.string == String(status.code))
        #expect(try await notified.world.happened("notification.requested").isEmpty)
    }

    @Test func `a malformed or oversized notification is refused`() async throws {
        let notified = try await NotifiedWorld()
        for body in [[:], ["data": [:]], ["data": ["type": "x", "attributes": [:]]]] as [JSON] {
            let answer = try await notified.world.send(
                .post, "/notifications", json: body, bearer: notified.access)
            #expect(answer.status == .badRequest)
            #expect(answer.json["errors"]?[0]?["detail"] == "Notification is not valid")
        }
        let large = try await notified.send([
            "message": .string(String(repeating: "a", count: 40_000))
        ])
        #expect(large.status == .contentTooLarge)
    }

    @Test
    func `COZ-22: an app may send thirty notifications an hour, unchanged states not counted`()
        async throws
    {
        let notified = try await NotifiedWorld()
        let state: JSONObject = ["category": "balance", "state": "low"]
        let first = try await notified.send(state)
        for _ in 0..<40 {
            let answer = try await notified.send(state)
            #expect(answer.status == .created)
            #expect(answer.json["data"]?["id"] == first.json["data"]?["id"])
        }
        for _ in 0..<29 { #expect(try await notified.send().status == .created) }
        let refused = try await notified.send()
        #expect(refused.status == .tooManyRequests)
        #expect(refused.json["errors"]?[0]?["status"] == "429")
        #expect(refused.response.headers["Retry-After"] != nil)
        #expect(try await notified.world.happened("notification.requested").count == 30)
    }

    @Test func `COZ-22: simultaneous notifications of one state are recorded once`() async throws {
        let notified = try await NotifiedWorld()
        let ids = try await withThrowingTaskGroup(of: JSON?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let answer = try await notified.send(["category": "balance", "state": "low"])
                    return answer.json["data"]?["id"]
                }
            }
            var ids: Set<JSON?> = []
            for try await id in group { ids.insert(id) }
            return ids
        }
        #expect(ids.count == 1)
        #expect(try await notified.world.happened("notification.requested").count == 1)
        // Another state is news, and another account is another matter.
        try await notified.send(["category": "balance", "state": "fine"])
        try await notified.send(["category": "balance", "state": "fine", "category_id": "b"])
        #expect(try await notified.world.happened("notification.requested").count == 3)
    }

    @Test func `COZ-22: a collapsible notification replaces its unsent predecessor`() async throws {
        let notified = try await NotifiedWorld()
        let phone = try await notified.device("Phone", "firebase", "t1")
        #expect(!phone.id.isEmpty)
        for number in 1...3 {
            try await notified.send(["category": "news", "title": .string("News \(number)")])
        }
        #expect(try await notified.world.happened("notification.superseded").count == 2)
        try await notified.deliver()
        let titles = notified.providers.taken.map { $0.body["message"]?["notification"]?["title"] }
        #expect(titles == ["News 3"])
    }

    @Test func `a notification's text is stored readable nowhere`() async throws {
        let notified = try await NotifiedWorld()
        try await notified.send([
            "title": "canary-title", "message": "canary-message", "state": "canary-state",
            "category_id": "canary-category", "data": ["canary-name": "canary-value"],
        ])
        try await notified.deliver()
        let world = notified.world.world
        for event in try await world.log.events(from: 1, limit: .max, in: world.realm) {
            let open = String(decoding: JSON.object(event.open).canonical(), as: UTF8.self)
            #expect(!open.contains("canary"), "\(event.name)")
        }
        #expect(try await notified.world.happened("notification.mailed").count == 1)
    }
}
