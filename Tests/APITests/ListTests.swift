import EventSourcing
import HTTP
import JSON
import LogTesting
import Testing
import Values

@testable import API

@Suite struct `A list` {
    /// Each list, and how to put one more thing into it.
    static let lists: [(path: String, name: String)] = [
        ("/api/admin/realms", "realm"), ("/api/admin/realms/acme/hosts", "host"),
        ("/api/admin/realms/acme/apps", "id"), ("/api/admin/realms/acme/clients", "client_id"),
        ("/api/admin/keys", "id"), ("/api/admin/realms/acme/events", "position"),
        ("/api/admin/realms/acme/audit-trail", "position"),
        ("/api/admin/realms/acme/accounts", "id"),
    ]

    private func fill(_ world: World, _ path: String, _ count: Int) async throws {
        for number in 0..<count {
            switch path {
            case "/api/admin/realms":
                try await world.make(path, ["realm": "r\(number)", "display_name": "R"])
            case "/api/admin/realms/acme/hosts":
                try await world.make(path, ["host": "h\(number).acme.example"])
            case "/api/admin/realms/acme/clients":
                try await world.make(
                    path, ["client_name": "C", "redirect_uris": ["https://c.example/"]])
            case "/api/admin/realms/acme/accounts":
                try await world.make(path, ["email": .string("a\(number)@example.org")])
            case "/api/admin/keys": try await world.make(path, ["name": "K"])
            default:
                try await world.make(
                    "/api/admin/realms/acme/apps", ["slug": "s\(number)", "name": "S"])
            }
        }
    }

    @Test(arguments: lists.map(\.path), [1, 2, 3, 5, 200])
    func `a list is complete and ordered for every page size`(
        _ path: String, _ limit: Int
    ) async throws {
        let world = try await World()
        try await fill(world, path, 5)
        let name = try #require(`A list`.lists.first { $0.path == path }?.name)
        let whole = try await world.send(.get, path)
        let expected = try #require(whole.json["items"]?.array)
        // One way to page in all lists: whether there is `more`.
        #expect(whole.json["more"] == false)
        #expect(expected.count >= 6)
        #expect(Set(expected.map { $0[name] }).count == expected.count)

        var pages: [JSON] = []
        var after: String?
        repeat {
            let query = "limit=\(limit)" + (after.map { "&after=\($0)" } ?? "")
            let page = try await world.send(.get, path, query: query)
            let items = try #require(page.json["items"]?.array)
            #expect(items.count <= limit)
            #expect(!items.isEmpty)
            pages += items
            after = page.nextPage
        } while after != nil
        #expect(pages == expected)
    }

    @Test func `a list's last page has no next cursor`() async throws {
        let world = try await World()
        try await fill(world, "/api/admin/realms/acme/apps", 3)
        let page = try await world.send(.get, "/api/admin/realms/acme/apps", query: "limit=4")
        #expect(page.json["items"]?.array?.count == 4)
        #expect(page.json["next"] == .null)
    }

    @Test func `a list continues at its cursor although entries were added or removed`()
        async throws
    {
        let world = try await World()
        let path = "/api/admin/realms/acme/apps"
        try await fill(world, path, 4)
        let first = try await world.send(.get, path, query: "limit=2")
        let next = try #require(first.json["next"]?.string)
        let last = try #require(first.json["items"]?[1]?["id"]?.string)
        #expect(try await world.send(.delete, "\(path)/\(last)").status == .noContent)
        let second = try await world.send(.get, path, query: "after=\(next)")
        #expect(second.json["items"]?.array?.count == 3)
    }

    @Test(arguments: ["0", "201", "-1", "1.0", "01", "", "ten", "9223372036854775808"])
    func `a list refuses limits out of bounds`(_ limit: String) async throws {
        let world = try await World()
        let answer = try await world.send(
            .get, "/api/admin/realms/acme/clients", query: "limit=\(limit)")
        #expect(answer.problem == .invalidParameter)
        #expect(answer.field == "limit")
        let detail = try #require(answer.json["detail"]?.string)
        #expect(detail.contains("from 1 to 200"), "\(detail)")
    }

    @Test func `a list shows fifty entries by default`() async throws {
        let world = try await World()
        try await fill(world, "/api/admin/realms/acme/apps", 51)
        let page = try await world.send(.get, "/api/admin/realms/acme/apps")
        #expect(page.json["items"]?.array?.count == 50)
        #expect(page.json["next"] != .null)
    }

    @Test func `a list of an unknown realm is not found`() async throws {
        let world = try await World()
        for list in [
            "hosts", "apps", "clients", "accounts", "events", "audit-trail", "login-history",
            "mails",
        ] {
            let answer = try await world.send(.get, "/api/admin/realms/nowhere/\(list)")
            #expect(answer.problem == .noSuchRealm, "\(list)")
        }
    }

    @Test func `a list of the system's own log is open to keys of all realms`() async throws {
        let world = try await World()
        for list in ["events", "audit-trail"] {
            let answer = try await world.send(.get, "/api/admin/realms/system/\(list)")
            #expect(answer.status == .ok)
            #expect(answer.json["items"]?[0]?["type"] == "admin_key.created")
        }
    }
}

@Suite struct `The audit trail` {
    private let path = "/api/admin/realms/acme/audit-trail"

    @Test func `the audit trail holds the events that a write's answer names`() async throws {
        let world = try await World()
        let write = try await world.send(
            .patch, "/api/admin/realms/acme/settings", body: ["otp_attempts": 5])
        let position = try #require(write.response.headers["Urd-Position"])
        let answer = try await world.send(.get, path, query: "min_position=\(position)")
        #expect(answer.json["items"]?.array?.last?["type"] == "realm.settings_changed")
        #expect(
            answer.json["items"]?.array?.last?["actor"] == .string("admin:\(world.key.id)"))
    }

    @Test func `the audit trail filters by actor, subject, type, time and order`() async throws {
        let world = try await World()
        let made = try await world.send(
            .post, "/api/admin/realms/acme/clients",
            body: ["client_id": "shop", "grant_types": ["client_credentials"]])
        #expect(made.status == .created)
        let all = try await entries(world, "")
        let newest = try #require(all.last)
        #expect(newest["type"] == "client.registered")
        #expect(try await entries(world, "order=newest").first == newest)
        let clients = all.filter { $0["type"]?.string?.hasPrefix("client.") == true }
        #expect(clients.count > 1 && clients.count < all.count)
        #expect(try await entries(world, "type=client") == clients)
        #expect(try await entries(world, "type=client.registered").last == newest)
        #expect(try await entries(world, "type=client.disabled").isEmpty)
        let stream = try #require(newest["stream"]?.string)
        #expect(try await entries(world, "stream=\(stream)") == [newest])
        let actor = "admin:\(world.key.id)"
        let done = all.filter { $0["actor"]?.string == actor }
        #expect(!done.isEmpty && done.count < all.count)
        #expect(try await entries(world, "actor=\(actor)") == done)
        #expect(try await entries(world, "actor=client:nobody").isEmpty)
        #expect(try await entries(world, "until=1999-01-01").isEmpty)
        #expect(try await entries(world, "since=1999-01-01&order=oldest") == all)
        // Newest first, a page goes on with what is older.
        let first = try await world.send(.get, path, query: "limit=1&order=newest")
        let next = try #require(first.json["next"]?.string)
        let second = try await world.send(.get, path, query: "limit=1&order=newest&after=\(next)")
        #expect(second.json["items"]?[0] == all.dropLast().last)
    }

    private func entries(_ world: World, _ query: String) async throws -> [JSON] {
        let answer = try await world.send(.get, path, query: query)
        #expect(answer.status == .ok)
        return try #require(answer.json["items"]?.array)
    }

    @Test(arguments: [
        "order=sideways", "stream=shop", "type=CLIENT", "type=client.", "type=clien",
        "actor=nobody", "since=yesterday", "until=2026-13-01",
        "actor=",
    ])
    func `the audit trail refuses an unknown filter`(_ query: String) async throws {
        let world = try await World()
        #expect(
            try await world.send(.get, path, query: query).problem == .invalidParameter)
    }

    @Test(arguments: [
        ("acme:1:999999", ProblemKind.positionNotReached), ("acme:7:1", .positionLost),
        ("other:1:1", .positionLost), ("acme:1", .invalidParameter),
        ("acme:1:-1", .invalidParameter), ("acme:1:1:1", .invalidParameter),
        ("acme:9999999999:1", .invalidParameter), ("", .invalidParameter),
        ("acme:1:9999999999999999999", .invalidParameter),
    ])
    func `the audit trail answers at once where no event can come`(
        _ position: String, _ kind: ProblemKind
    ) async throws {
        let world = try await World()
        let answer = try await world.send(.get, path, query: "min_position=\(position)")
        #expect(answer.problem == kind)
        #expect(answer.field == "min_position")
    }
}

@Suite struct `A cursor` {
    @Test func `a cursor is read as it was written`() throws {
        let id = try #require(UUID("0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"))
        #expect(Cursor.uuid(Cursor.encode(id)) == id)
        #expect(Cursor.name(Cursor.encode(name: "acme-1")) == "acme-1")
        for position: Int64 in [0, 1, 255, 256, 281_474_976_710_655] {
            #expect(Cursor.position(Cursor.encode(position: position)) == position)
        }
        try Cursor.uuid.check(.string(Cursor.encode(id)))
        try Cursor.name.check(.string(Cursor.encode(name: "login.example.com:8443")))
        try Cursor.position.check(.string(Cursor.encode(position: 42)))
    }

    /// So that no cursor passes the schema and is refused after it.
    @Test(arguments: [UInt64](1...20))
    func `a cursor survives any text that its schema allows`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        #expect(Cursor.uuid.sample(&random).string.flatMap(Cursor.uuid) != nil)
        #expect(Cursor.name.sample(&random).string.flatMap(Cursor.name) != nil)
        #expect(Cursor.position.sample(&random).string.flatMap(Cursor.position) != nil)
    }
}
