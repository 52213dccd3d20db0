import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `Signed and pushed requests` {
    private let key: SigningKey

    init() throws {
        key = try SigningKey.pooled(.es256, id: "k")
    }

    private func world(_ more: JSONObject = [:]) async throws -> AuthorizeWorld {
        let keys: JSON = ["keys": [key.verificationKey.jwk]]
        let world = try await Site(web: more.merging(["jwks": keys]) { own, _ in own })
        try await world.signIn()
        return world
    }

    private func object(
        _ world: AuthorizeWorld, by other: SigningKey? = nil, type: String = "oauth-authz-req+jwt",
        _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let now = world.world.clock.next()
        var claims: JSONObject = [
            "iss": "web", "aud": .string(Site.issuer), "exp": .integer(now.seconds + 300),
            "nbf": .integer(now.seconds),
        ]
        for (name, value) in Site.request() { claims[name] = .string(value) }
        claims["max_age"] = 1000
        change(&claims)
        return try JWS.sign(JSON.object(claims).canonical(), by: other ?? key, type: type)
    }

    private func send(_ world: AuthorizeWorld, _ object: String, _ more: Pairs = []) async throws
        -> (to: String, with: [String: String])
    {
        let outer: Pairs = [
            ("client_id", "web"), ("request", object), ("redirect_uri", Site.back),
            ("state", "outer"), ("response_type", "code"),
        ]
        return try world.sent(try await world.authorize(outer + more))
    }

    @Test func `a request object's parameters count, and parameters beside it do not`() async throws
    {
        let world = try await world()
        let answer = try await send(
            world, try object(world) { $0["state"] = "inner" }, [("scope", "nothing")])
        #expect(answer.with["state"] == "inner")
        let code = try #require(answer.with["code"])
        #expect(try await world.redeem(code).json["scope"] == "openid email profile offline_access")
        let alone = try await world.authorize([
            ("client_id", "web"), ("request", try object(world)),
        ])
        #expect(try world.sent(alone).with["code"] != nil)
        let several = try await send(
            world, try object(world) { $0["aud"] = [.string(Site.issuer), "https://b.example"] })
        #expect(several.with["code"] != nil)
    }

    @Test func `a request object needs no iss, because client_id names its client`() async throws {
        let world = try await world()
        let bare = try object(world) { $0["iss"] = nil }
        #expect(try await send(world, bare).with["code"] != nil)
        try await world.register("second", ["jwks": ["keys": [key.verificationKey.jwk]]])
        let other = try world.sent(
            try await world.authorize([
                ("client_id", "second"), ("request", bare), ("redirect_uri", Site.back),
            ]))
        #expect(other.with["error"] == "invalid_request_object" && other.with["code"] == nil)
        let stranger = try SigningKey.pooled(.es256, id: "k")
        let forged = try object(world, by: stranger) { $0["iss"] = nil }
        #expect(try await send(world, forged).with["error"] == "invalid_request_object")
    }

    @Test
    func `a request object is refused unless its client signed it, recently, for this server`()
        async throws
    {
        let world = try await world()
        let now = world.world.clock.next().seconds
        let changes: [(inout JSONObject) -> Void] = [
            { $0["exp"] = nil }, { $0["exp"] = .integer(now - 60) },
            { $0["exp"] = .integer(now + 4000) }, { $0["nbf"] = .integer(now + 600) },
            { $0["nbf"] = .integer(now - 3700) }, { $0["aud"] = "https://b.example" },
            { $0["aud"] = nil }, { $0["iss"] = "app" }, { $0["iss"] = .null }, { $0["iss"] = "" },
            { $0["client_id"] = "app" }, { $0["client_id"] = nil }, { $0["request"] = "x" },
            { $0["request_uri"] = "x" },
            // An assertion by which the client authenticates (RFC 9101 section 10.8).
            { $0["sub"] = "web" },
            { claims in
                claims["iss"] = nil
                claims["client_id"] = nil
            },
            { claims in
                claims["iss"] = nil
                claims["client_id"] = "app"
            },
        ]
        for (index, change) in changes.enumerated() {
            let answer = try await send(world, try object(world, change))
            #expect(answer.with["error"] == "invalid_request_object", "\(index)")
            #expect(answer.with["state"] == "outer" && answer.with["code"] == nil)
        }
        let stranger = try SigningKey.pooled(.es256, id: "k")
        let forged = try await send(world, try object(world, by: stranger))
        #expect(forged.with["error"] == "invalid_request_object")
        let token = try await send(world, try object(world, type: "at+jwt"))
        #expect(token.with["error"] == "invalid_request_object")
        let unsigned = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + ".e30."
        #expect(try await send(world, unsigned).with["error"] == "invalid_request_object")
        // Where nothing else says where the client is, nobody is sent there.
        let bare = try await world.authorize([("client_id", "web"), ("request", unsigned)])
        #expect(bare.status == .badRequest && bare.response.headers["Location"] == nil)
    }

    @Test func `a request object's members need the types of their parameters`() async throws {
        let world = try await world()
        let wrong: [(String, JSON)] = [
            ("scope", ["openid"]), ("prompt", true), ("state", 5), ("nonce", 7), ("nonce", .null),
            ("response_type", ["code"]), ("redirect_uri", [.string(Site.back)]),
            ("max_age", true), ("claims", ["x"]), ("resource", 5),
            ("resource", ["https://api.example", 5]), ("acr_values", ["x"]), ("dpop_jkt", 1),
            ("code_challenge", ["x"]), ("id_token_hint", ["x": 1]), ("client_id", 1),
        ]
        for (name, value) in wrong {
            let answer = try await send(world, try object(world) { $0[name] = value })
            #expect(answer.with["error"] == "invalid_request_object", "\(name)")
        }
        let right: [(String, JSON)] = [
            ("max_age", 900), ("max_age", "900"), ("something", ["else"]), ("other", 5),
            ("claims", ["id_token": ["email": .null]]), ("claims", #"{"id_token":{}}"#),
            ("resource", ["https://api.example"]), ("resource", "https://api.example"),
        ]
        for (name, value) in right {
            let answer = try await send(world, try object(world) { $0[name] = value })
            #expect(answer.with["code"] != nil, "\(name)")
        }
    }

    @Test func `a request object comes by value or by reference, not both ways`() async throws {
        let world = try await world()
        let pushed = try await push(world)
        for objects in [[try object(world)], ["x"], ["x", "y"]] {
            let both = pushed + objects.map { ("request", $0) } + [("redirect_uri", Site.back)]
            let answer = try world.sent(try await world.authorize(both))
            #expect(answer.with["error"] == "invalid_request" && answer.with["code"] == nil)
        }
        #expect(try world.sent(try await world.authorize(pushed)).with["code"] != nil)
    }

    @Test func `a client that registered require_signed_request_object can send no other requests`()
        async throws
    {
        let signing = try await world(["require_signed_request_object": true])
        #expect(
            try signing.sent(try await signing.authorize()).with["error"] == "invalid_request")
        #expect(try await send(signing, try object(signing)).with["code"] != nil)
        let pushing = try await world(["require_pushed_authorization_requests": true])
        #expect(
            try pushing.sent(try await pushing.authorize()).with["error"] == "invalid_request")
        let pushed = try await push(pushing)
        #expect(try pushing.sent(try await pushing.authorize(pushed)).with["code"] != nil)
    }

    private func push(
        _ world: AuthorizeWorld, _ request: Pairs = Site.request()
    ) async throws -> Pairs {
        let answer = try await world.world.post(
            "/connect/par", form: request + [("client_secret", SignInWorld.secret)])
        #expect(answer.status == .created && answer.json["expires_in"] == 90)
        return [
            ("client_id", "web"), ("request_uri", answer.json["request_uri"]?.string ?? ""),
        ]
    }

    @Test func `a pushed request is granted once and not used up by showing a page`() async throws {
        let world = try await world()
        world.world.browsers.signOut("ann")
        let pushed = try await push(world)
        for _ in 0..<2 {
            #expect(try world.sent(try await world.authorize(pushed)).to == "/login")
        }
        try await world.signIn()
        let first = try world.sent(try await world.authorize(pushed + [("state", "other")]))
        #expect(first.with["state"] == "a state&more")
        let code = try #require(first.with["code"])
        let second = try world.sent(try await world.authorize(pushed))
        #expect(second.with["error"] == "invalid_request_uri" && second.with["code"] == nil)
        #expect(try await world.redeem(code).status == .ok)
    }

    @Test func `a pushed request is its client's alone and expires`() async throws {
        let world = try await world()
        try await world.register("second", [:])
        let pushed = try await push(world)
        let foreign = try await world.authorize([("client_id", "second"), pushed[1]])
        #expect(foreign.status == .badRequest && foreign.response.headers["Location"] == nil)
        world.world.clock.advance(seconds: 91)
        let late = try await world.authorize(pushed)
        #expect(late.status == .badRequest && late.response.headers["Location"] == nil)
    }

    @Test func `a pushed request needs its client's authentication, no request_uri, and no faults`()
        async throws
    {
        let world = try await world()
        let nobody = try await world.world.post(
            "/connect/par", form: Site.request() + [("client_secret", "wrong")])
        #expect(nobody.status == .unauthorized && nobody.json["error"] == "invalid_client")
        let cases: [(Pairs, String)] = [
            ([("request_uri", "urn:ietf:params:oauth:request_uri:x")], "invalid_request"),
            ([("redirect_uri", "https://evil.example/")], "invalid_request"),
            ([("response_type", "token")], "unsupported_response_type"),
            ([("code_challenge_method", "plain")], "invalid_request"),
            ([("request", "a.b.c")], "invalid_request_object"),
        ]
        for (more, error) in cases {
            let answer = try await world.world.post(
                "/connect/par",
                form: Site.request(more) + [("client_secret", SignInWorld.secret)])
            #expect(answer.status == .badRequest && answer.json["error"] == .string(error))
        }
        #expect(try await world.world.get("/connect/par").status == .methodNotAllowed)
        let signed = try await push(
            world, [("client_id", "web"), ("request", try object(world))])
        #expect(try world.sent(try await world.authorize(signed)).with["code"] != nil)
    }
}
