import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// What testers of servers check that no other test of ours says by its name.
@Suite struct `Standards` {
    @Test(arguments: ["/connect/token", "/connect/introspect", "/connect/revoke", "/connect/par"])
    func `RFC 6749: the token endpoint answers POST alone`(path: String) async throws {
        let world = try await SignInWorld()
        for method in [HTTP.Method.get, .put, .delete] {
            let answer = try await world.call(method, path, as: nil)
            #expect(answer.status == .methodNotAllowed, "\(method)")
        }
    }

    @Test func `RFC 6749: repeated parameters are refused, empty and unknown ones ignored`()
        async throws
    {
        let world = try await Site.signedIn()
        func ask(_ more: Pairs) async throws -> Answered {
            try await world.redeem(try await world.code(), more)
        }
        #expect(try await ask([("extra", "x")]).status == .ok)
        #expect(try await ask([("scope", "")]).status == .ok)
        for name in ["code", "client_id", "grant_type", "redirect_uri", "code_verifier"] {
            let pairs: Pairs = [(name, "a"), (name, "a")]
            let answer = try await ask(pairs)
            #expect(answer.status == .badRequest, "\(name)")
            #expect(answer.json["error"] == "invalid_request", "\(name)")
        }
    }

    @Test func `RFC 6749: a secret with : + and % in the header is form-decoded`()
        async throws
    {
        let world = try await SignInWorld()
        let secret = "a:b+c%d e&f=ü"
        try await world.register(
            "odd", ["grant_types": ["client_credentials"], "scope": "jobs"], secret: secret)
        let form: Pairs = [("grant_type", "client_credentials")]
        let good = try await world.post(
            "/connect/token", form: form, basic: "odd:\(Percent.encode(secret))")
        #expect(good.status == .ok, "\(good.json)")
        let wrong = try await world.post("/connect/token", form: form, basic: "odd:x")
        #expect(wrong.status == .unauthorized && wrong.json["error"] == "invalid_client")
        #expect(wrong.response.headers["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
    }

    @Test func `RFC 6750: a missing, a bad and a query token get their challenges`() async throws {
        let world = try await Site.signedIn()
        let path = "/connect/userinfo"
        let none = try await world.world.call(.get, path, as: nil)
        #expect(none.status == .unauthorized && none.json["error"] == "invalid_request")
        #expect(none.response.headers["WWW-Authenticate"]?.contains("error") == false)
        let bad = try await world.world.call(.get, path, as: "nonsense")
        #expect(bad.status == .unauthorized && bad.json["error"] == "invalid_token")
        #expect(
            bad.response.headers["WWW-Authenticate"]?.contains(#"error="invalid_token""#) == true)
        let token = try #require(try await world.tokens().json["access_token"]?.string)
        let inAddress = try await world.visit(path, [("access_token", token)])
        #expect(inAddress.status == .unauthorized)
        // One that is good, but tells nobody who its person is.
        let narrow = try await world.tokens([("scope", "email")])
        let less = try await world.world.userInfo(
            try #require(narrow.json["access_token"]?.string))
        #expect(less.status == .forbidden && less.json["error"] == "insufficient_scope")
    }

    @Test func `RFC 6750: a token in a form is read byte for byte`() async throws {
        let world = try await Site.signedIn()
        let token = try #require(try await world.tokens().json["access_token"]?.string)
        let path = "/connect/userinfo"
        #expect(try await world.world.post(path, form: [("access_token", token)]).status == .ok)
        for text in [" \(token)", "  \(token)", "\t\(token)", "\(token) ", "Bearer \(token)", " "] {
            let answer = try await world.world.post(path, form: [("access_token", text)])
            #expect(answer.status == .unauthorized, "\(text)")
            #expect(answer.json["error"] == "invalid_token", "\(text)")
        }
    }

    @Test
    func `RFC 6750: a token in both header and form is refused, and spaces before it ignored`()
        async throws
    {
        let world = try await Site.signedIn()
        let path = "/connect/userinfo"
        let token = try #require(try await world.tokens().json["access_token"]?.string)
        func ask(_ line: String?, _ form: Pairs) async throws -> Answered {
            var headers: Headers = [
                "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
            ]
            headers["Authorization"] = line
            return try await world.world.send(
                Request(
                    method: .post, path: path, query: nil, headers: headers,
                    body: Array(Form.encode(form).utf8), source: "203.0.113.9", id: "request-6"))
        }
        let form: Pairs = [("access_token", token)]
        for (line, form) in [
            ("Bearer \(token)", form), ("Basic eDp5", form), (nil, form + form),
            ("Bearer \(token)", [("access_token", "x")]),
        ] as [(String?, Pairs)] {
            let answer = try await ask(line, form)
            #expect(answer.status == .badRequest && answer.json["error"] == "invalid_request")
        }
        for line in ["Bearer  \(token)", "bearer    \(token)", "BEARER \(token)"] {
            #expect(try await ask(line, []).status == .ok, "\(line)")
        }
        for line in ["Bearer", "Bearer\(token)", "Bearer\t\(token)", "Bearer \(token) x"] {
            #expect(try await ask(line, []).status == .unauthorized, "\(line)")
        }
        #expect(try await ask(nil, form).status == .ok)
    }

    @Test(arguments: [
        String(repeating: "a", count: 42), String(repeating: "a", count: 129),
        String(repeating: "a", count: 42) + " ", String(repeating: "ä", count: 43),
        String(repeating: "a", count: 43), String(repeating: "~", count: 128),
    ])
    func `RFC 7636: a verifier has 43 to 128 plain characters`(verifier: String) async throws {
        let world = try await Site.signedIn()
        let isGood =
            (43...128).contains(verifier.utf8.count) && verifier.allSatisfy { "a~".contains($0) }
        let challenge = Base64URL.encode(SecretDigest.of(verifier)?.bytes ?? [])
        let code = try await world.code(Site.request([("code_challenge", challenge)]))
        let answer = try await world.redeem(code, [("code_verifier", verifier)])
        #expect((answer.status == .ok) == isGood)
        guard !isGood else { return }
        #expect(answer.status == .badRequest && answer.json["error"] == "invalid_grant")
    }

    @Test(arguments: ["password", "implicit", "urn:example:grant"])
    func `RFC 9700: the password and implicit grants are refused`(grant: String) async throws {
        let answer = try await SignInWorld().post(
            "/connect/token",
            form: [
                ("grant_type", grant), ("client_id", "phone"), ("username", "ann"),
                ("password", "x"),
            ])
        #expect(answer.status == .badRequest)
        #expect(answer.json["error"] == "unsupported_grant_type")
    }

    @Test func `RFC 9700: no redirect makes a browser repeat a form post`() async throws {
        let world = try await Site.signedIn()
        for answer in [
            try await world.authorize(), try await world.authorize(Site.request(), method: .post),
            try await world.authorize(Site.request([("scope", "x")]), method: .post),
            try await world.authorize(Site.request([("prompt", "login")]), method: .post),
        ] { #expect(answer.status == .seeOther) }
    }

    @Test func `RFC 9700: no client can have a person's subject`() async throws {
        let world = try await SignInWorld(["client_registration": "open"])
        let made = try await world.registerItself([
            "client_id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"
        ])
        #expect(made.json["client_id"]?.string != "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
        let tokens = try await world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: SignInWorld.serviceBasic)
        let known = try await world.introspect(tokens.json["access_token"]?.string ?? "")
        #expect(known["sub"] == nil || known["sub"] == known["client_id"])
    }

    @Test(arguments: [
        ("http://127.0.0.1:53535/back", true), ("http://127.0.0.1/back", true),
        ("http://127.0.0.1:53535/other", false), ("http://127.0.0.2:53535/back", false),
        ("http://localhost:53535/back", false), ("https://127.0.0.1:53535/back", false),
        ("http://127.0.0.1.evil.example/back", false),
        ("http://127.0.0.1:1@evil.example/back", false),
        ("org.example.app:/back", true), ("org.example.app://back", false),
    ])
    func `RFC 8252: a native app is answered at loopback and private schemes`(
        place: String, isGood: Bool
    ) async throws {
        let world = try await Site.signedIn()
        let answer = try await world.authorize(
            Site.request([("client_id", "app"), ("redirect_uri", place)]))
        #expect((answer.status == .seeOther) == isGood)
        #expect((answer.response.headers["Location"]?.hasPrefix(place) ?? false) == isGood)
    }

    @Test func `RFC 9068: a JWT access token has all its claims, and is no ID token`() async throws
    {
        let world = try await Site.signedIn(web: ["access_token_format": "jwt"])
        let answer = try await world.tokens([("resource", "https://api.example")])
        let access = try #require(answer.json["access_token"]?.string)
        let claims = try payload(of: access)
        #expect(try header(of: access)["typ"] == "at+jwt")
        for name in [
            "iss", "exp", "aud", "sub", "client_id", "iat", "jti", "auth_time", "acr", "scope",
        ] { #expect(claims[name] != nil, "\(name)") }
        #expect(claims["aud"] == "https://api.example" || claims["aud"] == ["https://api.example"])
        let inside = try #require(answer.json["id_token"]?.string)
        #expect(try await world.world.userInfo(inside).status == .unauthorized)
        let hint = try await world.end([("prompt", "none"), ("id_token_hint", access)])
        #expect(hint["error"] == "invalid_request")
    }

    @Test func `RFC 7662: a client that may not introspect a token gets inactive, with any hint`()
        async throws
    {
        let world = try await Site.signedIn()
        let token = try #require(try await world.tokens().json["access_token"]?.string)
        try await world.register("stranger", [:])
        func ask(_ client: String, _ text: String, _ hint: String) async throws -> Answered {
            try await world.world.post(
                "/connect/introspect",
                form: [
                    ("token", text), ("token_type_hint", hint), ("client_id", client),
                    ("client_secret", SignInWorld.secret),
                ])
        }
        for hint in ["access_token", "refresh_token", "nonsense"] {
            #expect(try await ask("web", token, hint).json["active"] == true)
            let foreign = try await ask("stranger", token, hint)
            #expect(foreign.status == .ok && foreign.json == ["active": false])
            #expect(foreign.response.headers["Cache-Control"] == "no-store")
        }
        #expect(try await ask("web", "nonsense", "access_token").json == ["active": false])
        let nobody = try await world.world.post("/connect/introspect", form: [("token", token)])
        #expect(nobody.status == .unauthorized)
    }

    @Test func `RFC 7009: a client revokes its own tokens and no others`() async throws {
        let world = try await Site.signedIn()
        try await world.register("stranger", [:])
        let tokens = try await world.tokens()
        let access = try #require(tokens.json["access_token"]?.string)
        func revoke(_ client: String, _ text: String) async throws -> Answered {
            try await world.world.post(
                "/connect/revoke",
                form: [
                    ("token", text), ("client_id", client), ("client_secret", SignInWorld.secret),
                ])
        }
        _ = try await revoke("stranger", access)
        #expect(try await world.world.introspect(access)["active"] == true)
        #expect(try await revoke("web", "unknown").status == .ok)
        #expect(
            try await revoke("web", tokens.json["refresh_token"]?.string ?? "").status == .ok)
        #expect(try await world.world.introspect(access) == ["active": false])
    }

    @Test(arguments: ["access_token", "refresh_token"])
    func `RFC 7009: a revocation that could not be stored is not confirmed`(kind: String)
        async throws
    {
        let world = try await Site.signedIn()
        let tokens = try await world.tokens()
        let form: Pairs = [
            ("token", tokens.json[kind]?.string ?? ""), ("client_id", "web"),
            ("client_secret", SignInWorld.secret),
        ]
        for failure in [LogFailure.busy, .unavailable, .fenced, .contended] {
            for isReadable in [false, true] {
                world.world.log.fail(with: failure, onlyAppends: isReadable)
                let answer = try await world.world.post("/connect/revoke", form: form)
                #expect(answer.status.code >= 500, "\(failure)")
            }
        }
        world.world.log.fail(with: nil)
        let access = tokens.json["access_token"]?.string ?? ""
        #expect(try await world.world.introspect(access)["active"] == true)
        #expect(try await world.world.post("/connect/revoke", form: form).status == .ok)
        #expect(try await world.world.introspect(access) == ["active": false])
    }

    @Test(arguments: ["not-absolute", "https://api.example/#x", ""])
    func `RFC 8707: a resource is an absolute URI without a fragment`(resource: String) async throws
    {
        let world = try await Site.signedIn()
        let end = try await world.end([("resource", resource)])
        #expect(resource.isEmpty ? end["code"] != nil : end["error"] == "invalid_target")
        let answer = try await world.redeem(try await world.code(), [("resource", resource)])
        #expect(resource.isEmpty ? answer.status == .ok : answer.json["error"] == "invalid_target")
    }

    @Test func `RFC 9207: every answer names the issuer exactly as the metadata do`() async throws {
        let world = try await Site.signedIn()
        let metadata = try await world.world.get("/.well-known/openid-configuration").json
        let issuer = try #require(metadata["issuer"]?.string)
        #expect(metadata["authorization_response_iss_parameter_supported"] == true)
        for more: Pairs in [[], [("scope", "x")], [("prompt", "none"), ("max_age", "0")]] {
            #expect(try await world.end(more)["iss"] == issuer)
        }
    }

    @Test func `RFC 9126: a pushed request's URI cannot be guessed`() async throws {
        let world = try await FAPIWorld()
        let (one, two) = (try await world.push(), try await world.push())
        #expect(one.response.headers["Cache-Control"] == "no-store")
        #expect((one.json["expires_in"]?.integer ?? 600) < 600)
        let texts = try [one, two].map { try #require($0.json["request_uri"]?.string) }
        #expect(texts[0] != texts[1] && texts.allSatisfy { $0.utf8.count > 60 })
    }

    @Test func `RFC 9700: a login form that no page of Urd showed signs nobody in`() async throws {
        let browser = PageBrowser(try await SignInWorld(["registration": "jit_on_otp"]))
        try await browser.get("/login")
        try await browser.submit(
            "/login/code", [("email", "ann@example.org"), ("code", "123456")], token: "made up")
        #expect(browser.answer?.status == .forbidden && browser.cookies["__Host-urd"] == nil)
    }
}
