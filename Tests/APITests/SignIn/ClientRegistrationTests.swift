import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let plain: JSONObject = [
    "client_name": "Mine", "redirect_uris": ["https://mine.example/back"],
]

extension SignInWorld {
    func call(
        _ method: HTTP.Method, _ path: String, bearer: String? = nil, _ body: JSON? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example"]
        if body != nil { headers["Content-Type"] = "application/json" }
        headers["Authorization"] = bearer.map { "Bearer \($0)" }
        return try await send(
            Request(
                method: method, path: path, query: nil, headers: headers,
                body: body?.canonical() ?? [], source: "203.0.113.7", id: "request-5"))
    }

    func registerItself(
        _ members: JSONObject = [:], bearer: String? = nil
    ) async throws -> Answered {
        try await call(
            .post, "/connect/register", bearer: bearer, .object(plain.merging(members) { $1 }))
    }

    /// A token by which so many clients register themselves.
    func registrationToken(uses: Int64 = 1, scope: String = "") async throws -> String {
        let id = UUID.random()
        try await carryOut(
            RegistrationTokenChange.create(
                id, label: "Partners", uses: uses, scope: scope, now: clock.next()))
        return mint.initialAccessToken(id)
    }
}

@Suite struct `A client that registers itself over HTTP` {
    @Test func `a self-registered client gets an id, a secret and a registration token`()
        async throws
    {
        let world = try await SignInWorld(["client_registration": "open"])
        let made = try await world.registerItself(["unheard_of": ["x": 1]])
        #expect(made.status.code == 201)
        #expect(made.json["client_secret_expires_at"] == 0)
        #expect(made.json["unheard_of"] == nil)
        let id = try #require(made.json["client_id"]?.string)
        let uri = "http://id.acme.example/connect/register/\(id)"
        #expect(made.json["registration_client_uri"]?.string == uri)
        let secret = try #require(made.json["client_secret"]?.string)
        // The secret is one: the endpoint knows the client by it, and asks it for something else.
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: "\(id):\(secret)")
        #expect(answer.json["error"] == "unauthorized_client")
        let wrong = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: "\(id):\(secret)x")
        #expect(wrong.json["error"] == "invalid_client")
    }

    @Test func `a self-registered client reads, changes and deletes its registration`() async throws
    {
        let world = try await SignInWorld(["client_registration": "open"])
        let made = try await world.registerItself()
        let id = try #require(made.json["client_id"]?.string)
        let token = try #require(made.json["registration_access_token"]?.string)
        let path = "/connect/register/\(id)"
        let read = try await world.call(.get, path, bearer: token)
        #expect(read.status == .ok && read.json["client_name"] == "Mine")
        #expect(read.json["client_secret"] == nil)
        var members = plain
        members["client_id"] = .string(id)
        members["client_name"] = "Ours"
        members["client_secret"] = made.json["client_secret"]
        let changed = try await world.call(.put, path, bearer: token, .object(members))
        #expect(changed.json["client_name"] == "Ours")
        for (name, value) in [
            ("client_id", "other"), ("client_id", .null), ("client_secret", "guess"),
            ("registration_access_token", "x"), ("client_id_issued_at", 1),
        ] as [(String, JSON)] {
            var wrong = members
            wrong[name] = value
            let refused = try await world.call(.put, path, bearer: token, .object(wrong))
            #expect(refused.json["error"] == "invalid_request", "\(name)")
        }
        #expect(try await world.call(.delete, path, bearer: token).status == .noContent)
        for method in [HTTP.Method.get, .delete] {
            let gone = try await world.call(method, path, bearer: token)
            #expect(gone.status == .unauthorized && gone.json["error"] == "invalid_token")
        }
    }

    /// RFC 7592: with the client its token is gone, and that is what every other request hears.
    @Test func `a registration changed and deleted at once is answered by one of both outcomes`()
        async throws
    {
        let world = try await SignInWorld([
            "client_registration": "open",
            "rate_limits": [
                "client-registration": ["source": .null], "oauth-token": ["source": .null],
            ],
        ])
        for round in 0..<60 {
            let made = try await world.registerItself()
            let id = try #require(made.json["client_id"]?.string)
            let token = try #require(made.json["registration_access_token"]?.string)
            let path = "/connect/register/\(id)"
            var members = plain
            members["client_id"] = .string(id)
            members["client_name"] = "Ours"
            members["client_secret"] = made.json["client_secret"]
            let body = JSON.object(members)
            async let change = world.call(.put, path, bearer: token, body)
            for _ in 0..<(round % 12) { await Task.yield() }
            async let removal = world.call(.delete, path, bearer: token)
            let (changed, removed) = (try await change, try await removal)
            #expect(removed.status == .noContent, "\(round): \(removed.json)")
            if changed.status == .ok {
                #expect(changed.json["client_name"] == "Ours")
            } else {
                #expect(changed.status == .unauthorized, "\(round): \(changed.json)")
                #expect(changed.json["error"] == "invalid_token", "\(round): \(changed.json)")
            }
            #expect(try await world.call(.get, path, bearer: token).status == .unauthorized)
        }
    }

    @Test func `a self-registered client is told which standard scopes it got`() async throws {
        let world = try await SignInWorld(["client_registration": "open"])
        let all = "openid email phone address profile offline_access"
        let made = try await world.registerItself(["scope": .string(all)])
        #expect(made.status.code == 201)
        #expect(made.json["scope"] == "openid email phone profile offline_access")
        let id = try #require(made.json["client_id"]?.string)
        let token = try #require(made.json["registration_access_token"]?.string)
        var members = plain
        members["client_id"] = .string(id)
        members["scope"] = "openid address"
        let changed = try await world.call(
            .put, "/connect/register/\(id)", bearer: token, .object(members))
        #expect(changed.status == .ok && changed.json["scope"] == "openid")
    }

    @Test(arguments: [
        ("https://mine.example/back", "mine.example"),
        ("org.example.mine:/back", "org.example.mine:"),
    ])
    func `a self-registered client is shown to people by its redirect host, with any name`(
        redirect: String, place: String
    ) async throws {
        let world = try await SignInWorld([
            "client_registration": "open", "registration": "jit_on_otp",
        ])
        let made = try await world.registerItself([
            "redirect_uris": [.string(redirect)], "application_type": "native",
            "client_name": "Your bank", "token_endpoint_auth_method": "none",
        ])
        let request: Pairs = [
            ("client_id", try #require(made.json["client_id"]?.string)),
            ("redirect_uri", redirect), ("scope", "openid"),
        ]
        let browser = PageBrowser(world)
        try await browser.signIn()
        for (language, sentence) in [("en", "leads you to"), ("de", "führt Sie zu")] {
            browser.headers["Accept-Language"] = language
            try await browser.get(
                "/connect/authorize?\(Form.encode(AuthorizeWorld.request(request)))")
            try await browser.follow()
            #expect(browser.shows("Your bank"), "\(browser.page)")
            #expect(browser.shows("\(sentence) <strong>\(place)</strong>"), "\(browser.page)")
        }
        // Whoever manages the realm says himself who its clients are.
        try await world.register(
            "web",
            [
                "grant_types": ["authorization_code"], "client_name": "Web",
                "redirect_uris": [.string(AuthorizeWorld.back)],
                "token_endpoint_auth_method": "none",
            ])
        try await browser.get(
            "/connect/authorize?\(Form.encode(AuthorizeWorld.request([("scope", "openid")])))")
        try await browser.follow()
        #expect(browser.shows("Web bittet") && !browser.shows("führt Sie zu"))
    }

    @Test func `a registration token opens its own registration alone`() async throws {
        let world = try await SignInWorld(["client_registration": "open"])
        let (one, two) = (try await world.registerItself(), try await world.registerItself())
        let path = "/connect/register/\(one.json["client_id"]?.string ?? "")"
        let other = try #require(two.json["registration_access_token"]?.string)
        let own = try #require(one.json["registration_access_token"]?.string)
        for token in [other, own + "A", "x", try await world.registrationToken()] {
            let answer = try await world.call(.get, path, bearer: token)
            #expect(answer.status == .unauthorized && answer.json["error"] == "invalid_token")
        }
        // Of a client that is not there nobody hears either.
        let unknown = try await world.call(.get, "/connect/register/phone", bearer: own)
        #expect(unknown.status == .unauthorized)
        let none = try await world.call(.get, path)
        #expect(none.status == .unauthorized)
        #expect(none.response.headers["WWW-Authenticate"] == #"Bearer realm="urd""#)
        // Nor is it good for anything else.
        #expect(try await world.userInfo(own).status == .unauthorized)
        #expect(try await world.introspect(own) == ["active": false])
    }

    @Test func `a registration is refused in the words of RFC 7591`() async throws {
        let world = try await SignInWorld(["client_registration": "open"])
        for (members, code) in [
            (["redirect_uris": ["https://mine.example/#x"]], "invalid_redirect_uri"),
            (["redirect_uris": ["javascript:alert(1)"]], "invalid_redirect_uri"),
            (["redirect_uris": []], "invalid_redirect_uri"),
            (["audiences": ["https://api.example"]], "invalid_client_metadata"),
            (["introspects_all_tokens": true], "invalid_client_metadata"),
            (["forwards_addresses": true], "invalid_client_metadata"),
            (["grant_types": ["urn:cocoar:otp"]], "invalid_client_metadata"),
            (["grant_types": 1], "invalid_client_metadata"),
            (["software_statement": "a.b.c"], "invalid_software_statement"),
        ] as [(JSONObject, String)] {
            let answer = try await world.registerItself(members)
            #expect(
                answer.status == .badRequest && answer.json["error"]?.string == code, "\(members)")
        }
        #expect(try await !world.events().dropFirst(5).contains("client.registered"))
    }

    @Test func `a closed realm refuses registrations and has no endpoint for them in its metadata`()
        async throws
    {
        let world = try await SignInWorld()
        let answer = try await world.registerItself()
        #expect(answer.status == .forbidden && answer.json["error"] == "access_denied")
        let path = "/.well-known/openid-configuration"
        #expect(try await world.get(path).json["registration_endpoint"] == nil)
        let open = try await SignInWorld(["client_registration": "initial_access_token"])
        #expect(
            try await open.get(path).json["registration_endpoint"]
                == "http://id.acme.example/connect/register")
        #expect(try await open.registerItself().status == .unauthorized)
    }

    @Test func `an initial access token registers as many clients as it is for, also at once`()
        async throws
    {
        let world = try await SignInWorld(["client_registration": "initial_access_token"])
        let token = try await world.registrationToken(uses: 3, scope: "jobs")
        let answers = try await withThrowingTaskGroup(of: Answered.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    try await world.registerItself(
                        ["grant_types": ["client_credentials"], "scope": "jobs"], bearer: token)
                }
            }
            return try await group.reduce(into: [Answered]()) { $0.append($1) }
        }
        let made = answers.filter { $0.status.code == 201 }
        #expect(made.count == 3)
        #expect(
            answers.allSatisfy { $0.status.code == 201 || $0.json["error"] == "invalid_token" })
        let id = made.first?.json["client_id"]?.string ?? ""
        let secret = made.first?.json["client_secret"]?.string ?? ""
        let tokens = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: "\(id):\(secret)")
        #expect(tokens.json["scope"] == "jobs")
    }

    @Test func `registrations are rate-limited with a 429`() async throws {
        let world = try await SignInWorld([
            "client_registration": "open",
            "rate_limits": [
                "client-registration": ["source": ["amount": 2, "seconds": 3600]]
            ],
        ])
        #expect(try await world.registerItself().status.code == 201)
        #expect(try await world.registerItself().status.code == 201)
        let third = try await world.registerItself()
        #expect(third.status == .tooManyRequests && third.json["policy"] == "client-registration")
    }
}
