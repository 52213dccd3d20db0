import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// The mobile login as its sequence has it: an app, a resource server that asks `/connect/guard`, and
/// the authorization server.
@Suite struct `An app of the voo profile` {
    private static let back = "myapp.scheme.demo://code_callback"

    func world(_ more: JSONObject = [:]) async throws -> AuthorizeWorld {
        let world = try await Site()
        try await world.register(
            "ates",
            ([
                "profile": "voo", "token_endpoint_auth_method": "none",
                "redirect_uris": [.string(Self.back)], "scope": "openid scopeTest",
            ] as JSONObject).merging(more) { _, own in own })
        return world
    }

    /// The resource server: it hands the app's Authorization on, and passes what comes back.
    func data(
        _ world: AuthorizeWorld, _ token: String?, scope: String? = nil, resource: String? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example"]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        var query: Pairs = [("client_id", "ates")]
        if let scope { query.append(("scope", scope)) }
        if let resource { query.append(("resource", resource)) }
        return try await world.world.send(
            Request(
                method: .get, path: "/connect/guard", query: Form.encode(query),
                headers: headers, body: [], source: "203.0.113.9", id: "request-6"))
    }

    private func post(
        _ world: AuthorizeWorld, _ path: String, query: Pairs, form: Pairs? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example"]
        if form != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        return try await world.world.send(
            Request(
                method: .post, path: path, query: Form.encode(query), headers: headers,
                body: Array(Form.encode(form ?? []).utf8), source: "203.0.113.9",
                id: "request-5"))
    }

    private static let request: Pairs = [
        ("response_type", "code"), ("client_id", "ates"), ("redirect_uri", back),
        ("state", "7f0c"), ("code_challenge", Site.challenge), ("code_challenge_method", "s256"),
    ]

    func code(
        _ world: AuthorizeWorld, client: String = "ates", _ more: Pairs = []
    ) async throws -> String {
        try await world.signIn()
        let request = Self.request.map { ($0.name, $0.name == "client_id" ? client : $0.value) }
        return try #require(
            try world.sent(try await world.visit("/authorize", request + more)).with["code"])
    }

    func tokens(
        _ world: AuthorizeWorld, client: String = "ates", _ more: Pairs = []
    ) async throws -> (access: String, refresh: String) {
        let answer = try await post(
            world, "/token",
            query: [
                ("client_id", client), ("grant_type", "authorization_code"),
                ("code", try await code(world, client: client, more)), ("verifier", Site.verifier),
            ])
        return (
            try #require(answer.json["access_token"]?.string),
            try #require(answer.json["refresh_token"]?.string)
        )
    }

    @Test func `VOO-01: a voo app learns the login address at the resource`() async throws {
        let world = try await world()
        for token in [nil, "expired"] {
            let answer = try await data(world, token)
            #expect(answer.status == .unauthorized)
            #expect(answer.json["error"] == (token == nil ? "login_required" : "invalid_token"))
            let (place, members) = try world.sent(answer)
            #expect(place == Site.issuer + "/authorize")
            #expect(members["response_type"] == "code" && members["client_id"] == "ates")
            #expect(members["redirect_uri"] == Self.back && members["state"] != nil)
            #expect(answer.json["redirect_url"]?.string == answer.response.headers["Location"])
        }
        let bare = try await self.world(["login_location": "bare"])
        let answer = try await data(bare, nil)
        #expect(answer.response.headers["Location"] == Site.issuer + "/authorize")
        #expect(answer.json["redirect_url"]?.string?.contains("client_id=ates") == true)
    }

    @Test func `VOO-02: a voo app names S256 in lower case, and plain is refused`()
        async throws
    {
        let world = try await world()
        _ = try await tokens(world)
        let wrong = try await post(
            world, "/token",
            query: [
                ("client_id", "ates"), ("grant_type", "authorization_code"),
                ("code", try await code(world)), ("verifier", Site.verifier + "x"),
            ])
        #expect(wrong.status == .badRequest && wrong.json["error"] == "invalid_grant")
        let plain = Self.request.filter { $0.name != "code_challenge_method" }
        for more: Pairs in [[("code_challenge_method", "plain")], []] {
            let answer = try await world.visit("/authorize", plain + more)
            #expect(try world.sent(answer).with["error"] == "invalid_request")
        }
        // Other clients spell it as the standard does.
        let other = try await world.authorize(Site.request([("code_challenge_method", "s256")]))
        #expect(try world.sent(other).with["error"] == "invalid_request")
    }

    @Test func `VOO-03: a voo app's people log in on the page while their account is active`()
        async throws
    {
        let world = try await world()
        let answer = try await world.visit("/authorize", Self.request)
        #expect(try world.sent(answer).to == "/login")
        try await world.signIn()
        try await world.world.carryOut(AccountChange.disable(world.ann))
        #expect(try world.sent(try await world.visit("/authorize", Self.request)).to == "/login")
    }

    @Test func `VOO-04: a voo app's redirect has code and state alone, in this order`()
        async throws
    {
        let world = try await world()
        try await world.signIn()
        let answer = try await world.visit("/authorize", Self.request)
        #expect(answer.status == .found)
        let location = try #require(answer.response.headers["Location"])
        let begin = Self.back + "?code="
        #expect(location.hasPrefix(begin) && location.hasSuffix("&state=7f0c"))
        let code = location.dropFirst(begin.count).dropLast("&state=7f0c".count)
        #expect(code.utf8.allSatisfy { $0 != 0x25 && $0 != 0x26 })
        #expect(Base64URL.decode(String(code)) != nil)
    }

    @Test(arguments: ["/token", "/Token"], [true, false])
    func `VOO-05: a voo app redeems by query or form, with either name of the verifier`(
        path: String, isForm: Bool
    ) async throws {
        let world = try await world()
        for (name, hasRedirect) in [("verifier", false), ("code_verifier", true)] {
            var pairs: Pairs = [
                ("client_id", "ates"), ("grant_type", "authorization_code"),
                ("code", try await code(world)), (name, Site.verifier),
            ]
            if hasRedirect { pairs.append(("redirect_uri", Self.back)) }
            let answer = try await post(
                world, path, query: isForm ? [] : pairs, form: isForm ? pairs : nil)
            #expect(answer.status == .ok)
            #expect(answer.json["expires_in"] == 3600 && answer.json["token_type"] == "Bearer")
            #expect(answer.json["scope"] == "openid scopeTest")
            #expect(answer.json["refresh_token"] != nil)
        }
    }

    @Test func `RFC 6749: a voo app's answer names a scope only where one was asked for`()
        async throws
    {
        let world = try await world(["scope": ""])
        let code = try await code(world)
        let first = try await post(
            world, "/token",
            query: [
                ("client_id", "ates"), ("grant_type", "authorization_code"), ("code", code),
                ("verifier", Site.verifier),
            ])
        let next = try await post(
            world, "/Token",
            query: [
                ("grant_type", "refresh_token"),
                ("refresh_token", first.json["refresh_token"]?.string ?? ""),
            ])
        for answer in [first, next] {
            #expect(answer.status == .ok && answer.json["scope"] == nil)
        }
    }

    @Test func `VOO-05: a client of another profile may not redeem by query`() async throws {
        let world = try await world()
        try await world.signIn()
        let code = try await world.code()
        let pairs: Pairs = [
            ("client_id", "web"), ("client_secret", SignInWorld.secret), ("code", code),
            ("grant_type", "authorization_code"), ("redirect_uri", Site.back),
            ("code_verifier", Site.verifier),
        ]
        #expect(try await post(world, "/token", query: pairs).status == .unauthorized)
        #expect(
            try await post(world, "/connect/token", query: pairs, form: []).status == .badRequest
        )
        #expect(try await world.redeem(code, [("verifier", "x")]).status == .ok, "Passed over.")
        let twice = try await post(
            world, "/token", query: [("client_id", "ates"), ("grant_type", "refresh_token")],
            form: [("client_id", "ates")])
        #expect(twice.status == .badRequest)
    }

    @Test func `VOO-06: a voo app refreshes without a secret, and a repeat ends the session`()
        async throws
    {
        let world = try await world()
        let first = try await tokens(world)
        func refresh(_ token: String) async throws -> Answered {
            try await post(
                world, "/Token",
                query: [("grant_type", "refresh_token"), ("refresh_token", token)])
        }
        let next = try await refresh(first.refresh)
        #expect(next.status == .ok && next.json["access_token"]?.string != first.access)
        let second = try #require(next.json["refresh_token"]?.string)
        #expect(second != first.refresh)
        let again = try await refresh(first.refresh)
        #expect(again.status == .badRequest && again.json["error"] == "invalid_grant")
        #expect(try await refresh(second).json["error"] == "invalid_grant")
        #expect(try await refresh("urd_rt_x").json["error"] == "invalid_grant")
        #expect(try await refresh("").json["error"] == "invalid_grant")
    }

    @Test func `VOO-07: a voo app sees a business partner as one, while the account is active`()
        async throws
    {
        let world = try await world()
        let token = try await tokens(world).access
        let known = try await world.world.introspect(token)
        #expect(known["active"] == true && known["business_partner_id"] == "BP-4711")
        #expect(known["exp"] != nil && known["sub"] == .string(world.ann.description))
        let answer = try await data(world, token)
        #expect(answer.status == .ok && answer.json["business_partner_id"] == "BP-4711")
        #expect(answer.response.headers["Urd-Business-Partner"] == "BP-4711")
        #expect(answer.json["exp"] == known["exp"])
        try await world.world.carryOut(AccountChange.disable(world.ann))
        #expect(try await world.world.introspect(token) == ["active": false])
        #expect(try await data(world, token).status == .unauthorized)
        // What other clients' tokens are about is none of the profile's business.
        let other = try await Site()
        try await other.signIn()
        let plain = try await other.redeem(try await other.code())
        let text = try #require(plain.json["access_token"]?.string)
        #expect(try await other.world.introspect(text)["business_partner_id"] == nil)
    }

    @Test func `VOO-08: the guard answers that a person may pass, has to log in, or is forbidden`()
        async throws
    {
        let world = try await world()
        let token = try await tokens(world).access
        #expect(try await data(world, token, scope: "scopeTest").status == .ok)
        let far = try await data(world, token, scope: "scopeTest other")
        #expect(far.status == .forbidden && far.json["error"] == "insufficient_scope")
        #expect(far.response.headers["Location"] == nil)
        #expect(try await data(world, "x", scope: "scopeTest").status == .unauthorized)
        world.world.clock.advance(seconds: 3601)
        #expect(try await data(world, token).status == .unauthorized)
    }

    @Test func `VOO-08: the guard sends to the login once the client is disabled or deleted`()
        async throws
    {
        let world = try await world()
        let token = try await tokens(world).access
        let queries = MemoryQueries(log: world.world.log)
        let client = try #require(
            try await queries.ask(KnownClient.byClientID, "ates", in: world.world.realm)
        ).id
        try await world.world.carryOut(ClientChange.disable(client))
        for shown in [token, "x", nil] {
            for scope in [nil, "other"] {
                let answer = try await data(world, shown, scope: scope)
                #expect(answer.status == .unauthorized)
                #expect(try world.sent(answer).to == Site.issuer + "/authorize")
                let error = answer.json["error"]
                #expect(error == (shown == nil ? "login_required" : "invalid_token"))
            }
        }
        try await world.world.carryOut(ClientChange.enable(client))
        #expect(try await data(world, token).status == .ok)
        try await world.world.carryOut(DeleteClient(id: client))
        for shown in [token, nil] {
            let answer = try await data(world, shown)
            #expect(answer.status == .unauthorized && answer.response.headers["Location"] == nil)
        }
    }

    @Test(arguments: ["reference", "jwt"])
    func `VOO-08: the guard accepts other clients' tokens for the resource alone`(
        format: String
    ) async throws {
        let (here, there) = ("https://api.voo.example", "https://bank.example")
        let world = try await world(["access_token_format": .string(format)])
        try await world.register(
            "stranger",
            [
                "profile": "voo", "token_endpoint_auth_method": "none",
                "redirect_uris": [.string(Self.back)], "scope": "openid scopeTest",
                "access_token_format": .string(format),
            ])
        let own = try await tokens(world).access
        let foreign = try await tokens(world, client: "stranger").access
        #expect(try await data(world, own).status == .ok)
        let refused = try await data(world, foreign)
        #expect(refused.status == .unauthorized && refused.json["error"] == "invalid_token")
        #expect(refused.response.headers["Urd-Subject"] == nil)
        #expect(try world.sent(refused).with["client_id"] == "ates")

        // Another resource's token is nobody else's to be shown.
        let narrowed = try await tokens(world, [("resource", there)]).access
        let far = try await data(world, narrowed)
        #expect(far.status == .forbidden && far.json["error"] == "insufficient_scope")
        for token in [own, foreign, narrowed] {
            #expect(try await data(world, token, resource: here).status == .forbidden)
        }
        for client in ["ates", "stranger"] {
            let meant = try await tokens(world, client: client, [("resource", here)]).access
            let answer = try await data(world, meant, resource: here)
            #expect(answer.status == .ok && answer.json["client_id"] == .string(client))
            #expect(try await data(world, meant).status != .ok, "It was not named.")
        }
    }
}
