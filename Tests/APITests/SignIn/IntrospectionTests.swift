import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

@Suite struct `Introspection` {
    private static let api = "https://api.acme.example"

    /// Beside the usual ones: a resource server, one of another resource, and a backend.
    private func world(_ settings: JSONObject = [:]) async throws -> SignInWorld {
        let world = try await SignInWorld(
            settings.merging(["registration": "jit_on_otp"]) { own, _ in own })
        for (name, metadata) in [
            ("api", ["audiences": [.string(Self.api)]]),
            ("other", ["audiences": ["https://other.acme.example"]]),
        ] as [(String, JSONObject)] {
            try await world.register(
                name,
                metadata.merging(["grant_types": ["client_credentials"], "scope": "jobs"]) {
                    own, _ in own
                }, secret: "secret of \(name)")
        }
        try await world.register(
            "backend",
            [
                "grant_types": ["urn:cocoar:otp", "refresh_token"],
                "access_token_format": "jwt", "access_token_signed_response_alg": "ES256",
            ], secret: "secret of backend")
        return world
    }

    private func basic(_ name: String) -> String {
        "\(name):secret of \(name)".replacing(" ", with: "+")
    }

    private func ask(
        _ token: JSON?, as name: String, _ world: SignInWorld
    ) async throws -> JSON {
        let answer = try await world.post(
            "/connect/introspect", form: [("token", token?.string ?? "")],
            basic: name == "service" ? SignInWorld.serviceBasic : basic(name))
        #expect(answer.status == .ok)
        return answer.json
    }

    /// MOD-13: a backend that keeps a secret signs people in for its pages.
    private func signIn(_ world: SignInWorld, resource: [String] = []) async throws -> Answered {
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let form: [(name: String, value: String)] = [
            ("grant_type", "urn:cocoar:otp"), ("username", "ann@example.org"),
            ("otp_code", try await world.mailedCode()), ("scope", "openid offline_access"),
        ]
        return try await world.post(
            "/connect/token", form: form + resource.map { ("resource", $0) },
            basic: basic("backend"))
    }

    @Test(arguments: [("readers", Algorithm.rs256), ("signer", .es256)])
    func `RFC 9701: introspection answers by a signed JWT to the client that asked for it`(
        name: String, algorithm: Algorithm
    ) async throws {
        let world = try await world()
        for (name, more) in [
            ("readers", [:]), ("signer", ["introspection_signed_response_alg": "ES256"]),
        ] as [(String, JSONObject)] {
            try await world.register(
                name,
                more.merging([
                    "grant_types": ["client_credentials"], "introspects_all_tokens": true,
                ]) { $1 }, secret: "hush")
        }
        let tokens = try await signIn(world).json
        func ask(_ token: String, _ accept: String?) async throws -> Answered {
            var headers: Headers = [
                "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
                "Authorization": "Basic \(Base64.encode(Array("\(name):hush".utf8)))",
            ]
            headers["Accept"] = accept
            return try await world.send(
                Request(
                    method: .post, path: "/connect/introspect", query: nil, headers: headers,
                    body: Array(Form.encode([("token", token)]).utf8), source: "203.0.113.7",
                    id: "request-14"))
        }
        let token = try #require(tokens["access_token"]?.string)
        let plain = try await ask(token, nil).json
        let type = "application/token-introspection+jwt"
        let refresh = tokens["refresh_token"]?.string ?? ""
        let inactive: JSON = ["active": false]
        for (token, expected) in [
            (token, plain), (token + "x", inactive), (refresh, inactive),
        ] {
            let answer = try await ask(
                token, "text/html, Application/Token-Introspection+JWT;q=0.5")
            #expect(answer.status == .ok && answer.response.headers["Content-Type"] == type)
            let verified = try JWS.verify(
                String(decoding: answer.response.body, as: UTF8.self),
                by: try await world.keySet(),
                rules: JWS.Rules(
                    algorithms: [algorithm], types: TokenTypes(["token-introspection+jwt"])))
            let claims = try JSON.parse(verified.payload)
            #expect(claims["aud"]?.string == name && claims["iss"] == "http://id.acme.example")
            #expect(claims["token_introspection"] == expected && claims["iat"]?.integer != nil)
            #expect(claims["sub"] == nil && claims["exp"] == nil, "It is no token (section 5).")
        }
        for accept in ["*/*", "application/*", "\(type);q=0", "application/json"] {
            #expect(try await ask(token, accept).json == plain, "\(accept)")
        }
    }

    @Test func `MOD-13: a client with a secret redeems codes with it, and not without`()
        async throws
    {
        let world = try await world()
        let tokens = try await signIn(world)
        #expect(tokens.status == .ok && tokens.json["refresh_token"] != nil)
        let bare = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", "backend"),
                ("refresh_token", tokens.json["refresh_token"]?.string ?? ""),
            ])
        #expect(bare.json["error"] == "invalid_client")
        let own = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")], basic: basic("backend"))
        #expect(own.json["error"] == "unauthorized_client")
        let asUser = try await world.post(
            "/connect/token", form: [("grant_type", "urn:cocoar:otp"), ("otp_code", "123456")],
            basic: SignInWorld.serviceBasic)
        #expect(asUser.json["error"] == "unauthorized_client")
    }

    @Test
    func `MOD-18: introspection answers a token's client, its resources and privileged clients`()
        async throws
    {
        let world = try await world()
        let tokens = try await signIn(world, resource: [Self.api]).json
        let (access, refresh) = (tokens["access_token"], tokens["refresh_token"])
        for (token, name) in [
            (access, "backend"), (access, "api"), (access, "service"), (refresh, "backend"),
        ] {
            let known = try await ask(token, as: name, world)
            #expect(known["active"] == true, "\(name)")
            #expect(known["aud"] == [.string(Self.api)] && known["client_id"] == "backend")
            #expect(known["iat"] != nil && known["jti"] != nil && known["auth_time"] != nil)
            #expect(known["email"] == nil && known["username"] == nil)
        }
        for token in [access, refresh] {
            #expect(try await ask(token, as: "other", world) == ["active": false])
        }
        let unbound = try await signIn(world).json
        #expect(try await ask(unbound["access_token"], as: "api", world) == ["active": false])
        #expect(try await ask(unbound["access_token"], as: "backend", world)["active"] == true)
    }

    @Test
    func `RFC 7662: a refresh token is introspected by its own client, not as an access token`()
        async throws
    {
        let day: Int64 = 86_400
        let world = try await world(["session_lifetime": .integer(30 * day)])
        let tokens = try await signIn(world, resource: [Self.api])
        let first = tokens.json["refresh_token"]
        for name in ["api", "service", "other"] {
            #expect(try await ask(first, as: name, world) == ["active": false], "\(name)")
        }
        func refresh(_ token: JSON?) async throws -> Answered {
            try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "refresh_token"), ("refresh_token", token?.string ?? ""),
                ], basic: basic("backend"))
        }
        // It lasts for so long from its last use on, and never longer than its session.
        var token = first
        var ends: [Int64] = []
        for _ in 0..<3 {
            let known = try await ask(token, as: "backend", world)
            let (since, until) = (known["iat"]?.integer ?? 0, known["exp"]?.integer ?? 0)
            #expect(known["active"] == true && known["token_type"] == nil)
            ends.append(until - since)
            world.clock.advance(seconds: 10 * day)
            token = try await refresh(token).json["refresh_token"]
        }
        #expect(ends[0] == 14 * day && ends[1] == 14 * day, "\(ends)")
        #expect(ends[2] < 14 * day, "The session is over before.")

        let fresh = try await signIn(world).json["refresh_token"]
        #expect(try await ask(fresh, as: "backend", world)["active"] == true)
        world.clock.advance(seconds: 14 * day)
        #expect(try await ask(fresh, as: "backend", world) == ["active": false])
        #expect(try await refresh(fresh).json["error"] == "invalid_grant")
    }

    @Test func `MOD-18: introspection describes a reference token`() async throws {
        let world = try await world()
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials"), ("scope", "jobs")],
            basic: basic("api"))
        let known = try await ask(answer.json["access_token"], as: "api", world)
        #expect(known["active"] == true && known["sub"] == "api" && known["scope"] == "jobs")
        let (since, until) = (known["iat"]?.integer ?? 0, known["exp"]?.integer ?? 0)
        #expect(until - since == answer.json["expires_in"]?.integer)
        #expect(known["auth_time"] == nil && known["acr"] == nil, "Nobody signed in.")
        #expect(try await ask(answer.json["access_token"], as: "other", world) == ["active": false])
        #expect(try await ask("urd_at_nonsense", as: "service", world) == ["active": false])
    }

    @Test func `MOD-18: introspection is refused to public clients`() async throws {
        let world = try await world()
        let answer = try await world.post(
            "/connect/introspect", form: [("token", "x"), ("client_id", "phone")])
        #expect(answer.json["error"] == "invalid_client")
    }

    /// The answer itself says nothing but `active`: whoever runs the server can ask why.
    @Test func `introspection tells an operator, and no client, why a token is inactive`()
        async throws
    {
        let world = try await world()
        try await world.register(
            "public",
            [
                "token_endpoint_auth_method": "none",
                "redirect_uris": ["https://public.example/back"],
            ])
        func explain(_ token: String?, _ client: String) async throws -> IntrospectionExplanation {
            try await world.contexts.explainIntrospection(
                of: token ?? "", by: client, in: world.realm)
        }
        let tokens = try await signIn(world, resource: [Self.api]).json
        let (access, refresh) = (
            tokens["access_token"]?.string, tokens["refresh_token"]?.string
        )
        let first = try await explain(access, "other")
        #expect(first.reason.contains("other may not hear of") && first.reason.contains(Self.api))
        #expect(first.remedy.contains("--audiences"))
        for (token, client, word) in [
            (access, "nobody", "is no client"), (access, "public", "public client"),
            (refresh, "api", "a refresh token of backend"), ("made-up", "api", "no access"),
            ("a.b.c", "api", "no access"),
        ] as [(String?, String, String)] {
            let found = try await explain(token, client)
            #expect(!found.isActive && found.reason.contains(word), "\(found.reason)")
        }
        // It says what the endpoint does.
        for (token, client) in [
            (access, "api"), (access, "other"), (access, "backend"), (refresh, "backend"),
            (refresh, "api"), (access, "service"),
        ] as [(String?, String)] {
            let told = try await ask(token.map { JSON.string($0) }, as: client, world)
            let found = try await explain(token, client)
            #expect(told["active"]?.bool == found.isActive)
            #expect(told["active"] == true || told == ["active": false])
        }
        let next = try await world.post(
            "/connect/token",
            form: [("grant_type", "refresh_token"), ("refresh_token", refresh ?? "")],
            basic: basic("backend")
        ).json
        #expect(try await explain(refresh, "backend").reason.contains("another has taken"))
        world.clock.advance(seconds: 100_000)
        #expect(try await explain(access, "backend").reason.contains("expired at"))
        _ = try await world.post(
            "/connect/revoke", form: [("token", next["refresh_token"]?.string ?? "")],
            basic: basic("backend"))
        #expect(
            try await explain(next["refresh_token"]?.string, "backend").reason.contains("is over"))
    }
}
