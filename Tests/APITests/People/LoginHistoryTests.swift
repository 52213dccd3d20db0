import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `The login history over HTTP` {
    private let history = "/api/admin/realms/acme/login-history"

    /// Eve at the desk, a stranger who could not, and Ada elsewhere.
    private func world() async throws -> (World, ada: UUID) {
        let world = try await World()
        let ada = try await world.person("ada@example.org")
        try await world.happen(
            Session.self,
            .refused(
                RefusedSignIn(
                    method: .nativeOTP, reason: "invalid_code", account: nil,
                    client: UUID.zero, clientID: "phone", app: nil,
                    from: SignInPlace(source: "there"))), in: UUID.random())
        let session = UUID.random()
        try await world.happen(
            Session.self, .opened(world.terms(of: ada, client: "phone")), in: session)
        try await world.happen(Session.self, .ended(.revoked), in: session)
        // What a client does for itself is no sign-in of anybody.
        try await world.happen(
            Session.self, .opened(world.terms(of: nil, client: "phone")), in: UUID.random())
        return (world, ada)
    }

    @Test func `the login history has a row per attempt, newest first`() async throws {
        let (world, ada) = try await world()
        let items = try #require(try await world.send(.get, history).json["items"]?.array)
        #expect(items.map { $0["outcome"] } == ["signed_in", "refused", "signed_in"])
        #expect(items[0]["account"]?.string == ada.description)
        #expect(items[0]["end_reason"] == "revoked")
        #expect(items[0]["method"] == "urn:cocoar:otp")
        #expect(items[1]["reason"] == "invalid_code")
        #expect(items[1]["account"] == nil)
        #expect(items[2]["device"] == "iPhone")
        #expect(items.allSatisfy { $0["address"] == nil })
    }

    @Test func `the login history filters by account, client, outcome and time`() async throws {
        let (world, ada) = try await world()
        let realm = "/api/admin/realms/acme"
        func count(_ path: String, _ query: String? = nil) async throws -> Int? {
            try await world.send(.get, realm + path, query: query).json["items"]?.array?.count
        }
        #expect(try await count("/accounts/\(ada)/login-history") == 1)
        #expect(try await count("/accounts/\(ada)/login-history", "outcome=refused") == 0)
        #expect(try await count("/accounts/\(UUID.random())/login-history") == 0)
        let desk = try #require(world.names["client_id"])
        #expect(try await count("/clients/\(desk)/login-history") == 1)
        #expect(try await count("/clients/phone/login-history") == 2)
        let unknown = try await world.send(.get, realm + "/clients/nobody/login-history")
        #expect(unknown.problem == .noSuchClient)
        #expect(try await count("/login-history", "outcome=refused") == 1)
        let items = try #require(try await world.send(.get, history).json["items"]?.array)
        let middle = try #require(items[1]["at"]?.string)
        #expect(try await count("/login-history", "since=\(middle)") == 2)
        #expect(try await count("/login-history", "until=\(middle)") == 1)
    }

    @Test func `the login history takes instants and days as bounds`() async throws {
        let (world, _) = try await world()
        func items(_ query: String) async throws -> [JSON]? {
            try await world.send(.get, history, query: query).json["items"]?.array
        }
        let all = try #require(try await items("limit=100"))
        let newest = all.compactMap { $0["at"]?.string }.max()
        let day = try #require(newest).prefix(10)
        for word in ["since", "until"] {
            #expect(
                try await items("\(word)=\(day)") == items("\(word)=\(day)T00:00:00Z"), "\(day)")
        }
        for time in ["2026-13-01T00:00:00Z", "2026-02-30", "yesterday", "2026-11-22T"] {
            let wrong = try await world.send(.get, history, query: "since=\(time)")
            #expect(wrong.problem == .invalidParameter && wrong.field == "since")
        }
        let wrong = try await world.send(.get, history, query: "since=now")
        #expect(
            wrong.json["detail"]
                == "since must be a time such as 2026-11-22T12:00:00Z, or a day such as 2026-11-22."
        )
    }

    @Test(arguments: [1, 2, 3])
    func `the login history is complete for every page size`(_ limit: Int) async throws {
        let (world, _) = try await world()
        let whole = try await world.send(.get, history).json["items"]?.array
        var pages: [JSON] = []
        var after: String?
        repeat {
            let query = "limit=\(limit)" + (after.map { "&after=\($0)" } ?? "")
            let page = try await world.send(.get, history, query: query)
            pages += page.json["items"]?.array ?? []
            after = page.nextPage
        } while after != nil
        #expect(pages == whole)
        #expect(pages.count == 3)
    }

    @Test func `the login history shows places to an administrator whose question is recorded`()
        async throws
    {
        let (world, ada) = try await world()
        let answer = try await world.send(
            .get, history, query: "open=true&open_reason=Incident%204711&limit=1")
        let item = try #require(answer.json["items"]?.array?.first)
        #expect(item["address"] == "203.0.113.9")
        #expect(item["user_agent"] == "Eve's phone")
        let record = try #require(try await world.events().last)
        #expect(record.name == "personal_data.opened")
        #expect(
            record.open == [
                "kind": "login_history", "accounts": [.string(ada.description)],
                "reason": "Incident 4711",
            ])
        let before = try await world.events().count
        let nothing = try await world.send(
            .get, history, query: "open=true&open_reason=Incident&until=2020-01-01T00:00:00Z")
        #expect(nothing.json["items"] == [])
        #expect(try await world.events().count == before, "Nothing was opened.")
    }

    @Test func `the login history holds what a write's answer names, without waiting`()
        async throws
    {
        let (world, _) = try await world()
        let head = try await world.log.head(of: try #require(RealmID("acme"))).position
        let reached = try await world.send(
            .get, history, query: "min_position=acme:1:\(head)")
        #expect(reached.status == .ok)
        let late = try await world.send(.get, history, query: "min_position=acme:1:\(head + 9)")
        #expect(late.problem == .positionNotReached)
        let lost = try await world.send(.get, history, query: "min_position=acme:9:1")
        #expect(lost.problem == .positionLost)
    }
}

@Suite struct `A kind of device` {
    @Test(
        arguments: [
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15",
                "iPhone"
            ),
            ("Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15", "iPad"),
            ("Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36", "Android"),
            ("Dalvik/2.1.0 (Linux; U; Android 14; SM-S911B)", "Android"),
            ("okhttp/4.12.0", "Android"),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36", "Windows"),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15", "Mac"),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Linux"),
            ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36", "Chromebook"),
            ("Shop/12 CFNetwork/1568.200.51 Darwin/24.1.0", "Apple"), ("curl/8.5.0", "curl"),
            ("python-requests/2.32", nil), ("", nil), (nil, nil), ("\u{0}é\u{1F600}", nil),
        ] as [(String?, String?)])
    func `a kind of device is told by its user agent`(_ userAgent: String?, _ kind: String?) {
        #expect(DeviceKind.of(userAgent: userAgent) == kind)
    }

    @Test func `a kind of device is read within the first bytes of a long user agent`() {
        let long = String(repeating: "x", count: 505) + "iPhone"
        #expect(DeviceKind.of(userAgent: long) == "iPhone")
        #expect(DeviceKind.of(userAgent: long.replacing("iP", with: "xxiP")) == nil)
    }
}
