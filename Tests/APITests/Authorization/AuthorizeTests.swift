import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `The authorization endpoint` {
    @Test(arguments: [HTTP.Method.get, .post])
    func `the authorization endpoint answers with a code, the state and its issuer`(
        method: HTTP.Method
    ) async throws {
        let world = try await Site()
        try await world.signIn()
        let answer = try await world.authorize(method: method)
        #expect(answer.status == .seeOther && answer.response.body.isEmpty)
        let (place, members) = try world.sent(answer)
        #expect(place == Site.back && Set(members.keys) == ["code", "state", "iss"])
        #expect(members["state"] == "a state&more" && members["iss"] == Site.issuer)
        let code = try #require(members["code"])
        #expect(code.utf8.count > 43 && Base64URL.decode(code) != nil)
        let tokens = try await world.redeem(code)
        #expect(tokens.status == .ok && tokens.json["refresh_token"] != nil)
        let token = try await world.idToken(tokens)
        #expect(token.subject == world.ann.description && token.authenticatedAt != nil)
        #expect(token.authenticationContext == "urn:modgud:acr:single")
        #expect(token.authenticationMethods == ["otp"] && token.additional["sid"] != nil)
        #expect(token.additional["email"] == nil)
        let info = try await world.world.userInfo(
            try #require(tokens.json["access_token"]?.string))
        #expect(info.json["email"] == "ann@example.org" && info.json["name"] == "Ann Lee")
        #expect(info.json["email_verified"] == true && info.json["sub"]?.string == token.subject)
        let refreshed = try await world.world.post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", "web"),
                ("client_secret", SignInWorld.secret),
                ("refresh_token", tokens.json["refresh_token"]?.string ?? ""),
            ])
        let next = try await world.idToken(refreshed, nonce: nil)
        #expect(next.authenticatedAt == token.authenticatedAt && next.nonce == nil)
    }

    @Test func `the authorization endpoint answers by form post without parameters in the address`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let answer = try await world.authorize(
            Site.request([("response_mode", "form_post"), ("state", #""><script>x"#)]))
        #expect(answer.status == .ok && answer.response.headers["Location"] == nil)
        #expect(answer.response.headers["Content-Type"] == "text/html; charset=utf-8")
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(page.contains(#"method="post" action="https://web.example/back""#))
        #expect(page.contains(#"name="code""#) && page.contains(#"name="iss""#))
        #expect(page.contains("&quot;&gt;&lt;script&gt;x") && !page.contains("<script>x"))
        let policy = try #require(answer.response.headers["Content-Security-Policy"])
        // Browsers hold it also against where the application leads on to from there.
        #expect(!policy.contains("form-action"))
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
        let script = try await world.world.get("/connect/form-post.js")
        #expect(script.status == .ok)
    }

    @Test func `the authorization endpoint answers in the fragment for a client without a secret`()
        async throws
    {
        let world = try await Site()
        try await world.register(
            "page",
            [
                "token_endpoint_auth_method": "none",
                "redirect_uris": [.string(Site.back), "https://web.example/back?"],
            ])
        try await world.signIn()
        let asked: Pairs = [("client_id", "page"), ("response_mode", "fragment")]
        for back in [Site.back, "https://web.example/back?"] {
            for more in [[], [("prompt", "none"), ("max_age", "0")]] as [Pairs] {
                let answer = try await world.authorize(
                    Site.request(asked + [("redirect_uri", back)] + more))
                let place = try #require(answer.response.headers["Location"])
                #expect(place.hasPrefix(back + "#"), "\(place)")
                let mark = try #require(place.firstIndex(of: "#"))
                let pairs = try #require(Form.parse(Array(place[mark...].dropFirst().utf8)))
                let names = pairs.map(\.name)
                #expect(names.contains(more.isEmpty ? "code" : "error"))
                #expect(pairs.first { $0.name == "state" }?.value == "a state&more")
                #expect(pairs.first { $0.name == "iss" }?.value == Site.issuer)
            }
        }
        // A fragment reaches no server: one that has a secret is answered where it can see it.
        let told = try world.sent(
            try await world.authorize(Site.request([("response_mode", "fragment")])))
        #expect(told.to == Site.back && told.with["error"] == "invalid_request")
    }

    @Test func `the authorization endpoint's form post page has the realm's look and language`()
        async throws
    {
        let world = try await Site(["language": "de", "accent_colour": "#0a7d5a"])
        try await world.signIn()
        for more in [[], [("prompt", "none"), ("max_age", "0")]] as [Pairs] {
            let answer = try await world.authorize(
                Site.request([("response_mode", "form_post")] + more))
            let page = String(decoding: answer.response.body, as: UTF8.self)
            #expect(page.contains(#"<html lang="de">"#) && page.contains("Einen Moment · Acme"))
            #expect(page.contains("/colour/0a7d5a") && page.contains("Weiter"))
            let policy = try #require(answer.response.headers["Content-Security-Policy"])
            #expect(policy.contains("script-src 'self'") && !policy.contains("unsafe"))
            #expect(!policy.contains("form-action"))
        }
    }

    @Test func `the authorization endpoint's error page has the realm's look and language`()
        async throws
    {
        let world = try await Site(["language": "de", "accent_colour": "#0a7d5a"])
        for (path, method) in [
            ("/nowhere", HTTP.Method.get), ("/login/", .get), ("/account", .delete),
        ] {
            let answer = try await world.world.send(
                Request(
                    method: method, path: path, query: nil,
                    headers: ["Host": "id.acme.example", "Accept": "text/html"], body: [],
                    source: "203.0.113.9", id: "request-12"))
            let page = String(decoding: answer.response.body, as: UTF8.self)
            #expect(answer.status == (method == .get ? .notFound : .methodNotAllowed), "\(path)")
            #expect(page.contains("Seite nicht gefunden · Acme"), "\(path)")
            #expect(page.contains("/colour/0a7d5a"))
            let policy = try #require(answer.response.headers["Content-Security-Policy"])
            #expect(policy.contains("default-src 'none'") && policy.hasSuffix("form-action 'self'"))
        }
        // Of a host that is nobody's nothing is known, and nothing told.
        let answer = await world.world.router.respond(
            to: Request(
                method: .get, path: "/nowhere", query: nil,
                headers: ["Host": "other.example", "Accept": "text/html"], body: [],
                source: "203.0.113.9", id: "request-13"))
        let page = String(decoding: answer.body, as: UTF8.self)
        #expect(page.contains("No site is set up for other.example") && !page.contains("Acme"))
    }

    @Test func `a page about a wrong sign-in request names the client that sent it`() async throws {
        let world = try await Site()
        try await world.signIn()
        let known = try await world.authorize(
            Site.request([("redirect_uri", "https://evil.example/back")]))
        #expect(
            String(decoding: known.response.body, as: UTF8.self)
                .contains("Web sent an invalid sign-in request."))
        let unknown = try await world.authorize(Site.request([("client_id", "nobody")]))
        #expect(
            String(decoding: unknown.response.body, as: UTF8.self)
                .contains("The app sent an invalid sign-in request."))
    }

    @Test(
        arguments: [
            [("redirect_uri", "https://evil.example/back")],
            [("redirect_uri", "https://web.example/back/")],
            [("redirect_uri", "https://web.example/back?x=1")],
            [("redirect_uri", "https://web.example/back#x")],
            [("redirect_uri", "HTTPS://web.example/back")],
            [("redirect_uri", "javascript:alert(1)")],
            [("redirect_uri", AuthorizeWorld.back), ("redirect_uri", "https://evil.example/")],
            [("client_id", "nobody")], [("client_id", "-")],
            [("client_id", "web"), ("client_id", "app")], [("client_id", "<script>")],
        ] as [Pairs])
    func `the authorization endpoint redirects to registered addresses alone`(
        pairs: Pairs
    ) async throws {
        let world = try await Site()
        try await world.signIn()
        let answer = try await world.authorize(Site.request(pairs))
        #expect(answer.status == .badRequest && answer.response.headers["Location"] == nil)
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(!page.contains("evil") && !page.contains("<script>"))
        // Whoever wrote the client reads why, in the realm's own look.
        #expect(page.contains("<p class=\"note bad small\" lang=\"en\">"))
        #expect(
            page.contains("</title>")
                && !page.contains("<title>Something is wrong with this link</title>"))
    }

    @Test(
        arguments: [
            ([("response_type", "-")], "invalid_request"),
            ([("response_type", "token")], "unsupported_response_type"),
            ([("response_type", "code id_token")], "unsupported_response_type"),
            ([("scope", "nothing")], "invalid_scope"),
            ([("prompt", "none login")], "invalid_request"),
            ([("prompt", "dance")], "invalid_request"),
            ([("max_age", "-1")], "invalid_request"), ([("max_age", "soon")], "invalid_request"),
            ([("response_mode", "fragment")], "invalid_request"),
            ([("code_challenge_method", "plain")], "invalid_request"),
            ([("code_challenge_method", "-")], "invalid_request"),
            ([("code_challenge", "short")], "invalid_request"),
            ([("claims", "{")], "invalid_request"), ([("claims", "[]")], "invalid_request"),
            ([("registration", "{}")], "registration_not_supported"),
            ([("resource", "not a URI")], "invalid_target"),
            ([("id_token_hint", "a.b.c")], "invalid_request"),
            ([("scope", "openid"), ("scope", "email")], "invalid_request"),
            ([("nonce", "a"), ("nonce", "a")], "invalid_request"),
            ([("request", "eyJhbGciOiJub25lIn0.e30.")], "invalid_request_object"),
            ([("request_uri", "https://evil.example/request")], "request_uri_not_supported"),
        ] as [(Pairs, String)])
    func `the authorization endpoint tells the client what is wrong with its request`(
        pairs: Pairs, code: String
    ) async throws {
        let world = try await Site()
        try await world.signIn()
        let answer = try await world.authorize(Site.request(pairs))
        let (place, members) = try world.sent(answer)
        #expect(place == Site.back && members["error"] == code && members["code"] == nil)
        #expect(members["state"] == "a state&more" && members["iss"] == Site.issuer)
        let sentence = try #require(members["error_description"])
        #expect(
            sentence.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    }

    @Test(arguments: [(2048, true), (2049, false), (6000, false), (6001, nil)] as [(Int, Bool?)])
    func `the authorization endpoint returns the state with an error, or redirects nobody`(
        length: Int, isGood: Bool?
    ) async throws {
        let world = try await Site()
        try await world.signIn()
        let state = String(repeating: "s", count: length)
        let answer = try await world.authorize(Site.request([("state", state)]))
        guard let isGood else {
            #expect(answer.status == .badRequest && answer.response.headers["Location"] == nil)
            return
        }
        let members = try world.sent(answer).with
        #expect(members["state"] == state && (members["code"] != nil) == isGood)
        #expect(members["error"] == (isGood ? nil : "invalid_request"))
        let odd = try await world.authorize(Site.request([("state", "a\u{1}b")]))
        let told = try world.sent(odd).with
        #expect(told["error"] == "invalid_request" && told["state"] == "a\u{1}b")
    }

    @Test func `the authorization endpoint demands a PKCE challenge of public clients`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let app: Pairs = [("client_id", "app"), ("redirect_uri", "org.example.app:/back")]
        let bare = try await world.authorize(
            Site.request(app, without: ["code_challenge", "code_challenge_method"]))
        #expect(try world.sent(bare).with["error"] == "invalid_request")
        let code = try await world.code(Site.request(app))
        let secretless: Pairs = app + [("client_secret", "-")]
        #expect(try await world.redeem(code, secretless).status == .ok)
        let loopback: Pairs = [
            ("client_id", "app"), ("redirect_uri", "http://127.0.0.1:49152/back"),
        ]
        let other = try await world.code(Site.request(loopback))
        #expect(try await world.redeem(other, loopback + [("client_secret", "-")]).status == .ok)
        let name = try await world.authorize(
            Site.request([("client_id", "app"), ("redirect_uri", "http://localhost:1/back")]))
        #expect(name.status == .badRequest)
    }

    @Test func `the authorization endpoint ignores unknown parameters`() async throws {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code(
            Site.request([
                ("scope", "openid address email"), ("extra", "foobar"), ("display", "popup"),
                ("ui_locales", "se"), ("claims_locales", "se"), ("login_hint", "x@y.example"),
                ("acr_values", "urn:something:else"),
            ]))
        #expect(try await world.redeem(code).json["scope"] == "openid email")
    }

    @Test func `the authorization endpoint accepts a request without a nonce`() async throws {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code(Site.request(without: ["nonce", "state"]))
        let token = try await world.idToken(try await world.redeem(code), nonce: nil)
        #expect(token.nonce == nil)
    }

    @Test func `claims requested by name stand where the request asked for them`() async throws {
        let world = try await Site()
        try await world.signIn()
        let claims = #"{"id_token":{"email":null},"userinfo":{"name":{"essential":true}}}"#
        let code = try await world.code(
            Site.request([("claims", claims), ("scope", "openid")]))
        let tokens = try await world.redeem(code)
        let token = try await world.idToken(tokens)
        #expect(token.additional["email"] == "ann@example.org")
        let info = try await world.world.userInfo(
            try #require(tokens.json["access_token"]?.string))
        #expect(info.json["name"] == "Ann Lee" && info.json["email"] == nil)
    }

    @Test func `claims of a scope that the client may not have are left out`() async throws {
        let world = try await Site(web: ["scope": "openid profile"])
        try await world.signIn()
        let claims = #"{"id_token":{"email":null,"name":null},"userinfo":{"email":null}}"#
        let code = try await world.code(
            Site.request([("claims", claims), ("scope", "openid")]))
        let tokens = try await world.redeem(code)
        let token = try await world.idToken(tokens)
        #expect(token.additional["email"] == nil && token.additional["name"] == "Ann Lee")
        let info = try await world.world.userInfo(
            try #require(tokens.json["access_token"]?.string))
        #expect(info.json["email"] == nil)
    }

    @Test func `claims requested by name need the person's consent as their scope does`()
        async throws
    {
        let world = try await Site(web: ["consent": "needed"])
        try await world.signIn()
        let bare = Site.request([("scope", "openid")])
        let first = try world.sent(try await world.authorize(bare))
        #expect(first.to == "/consent")
        _ = try await world.decide(try #require(first.with["continue"]), allows: true)
        #expect(try world.sent(try await world.authorize(bare)).with["code"] != nil)
        for part in ["id_token", "userinfo"] {
            let claims = Site.request([
                ("scope", "openid"), ("claims", "{\"\(part)\":{\"email\":null}}"),
            ])
            let asked = try world.sent(try await world.authorize(claims))
            #expect(asked.to == "/consent")
            let mute = try world.sent(try await world.authorize(claims + [("prompt", "none")]))
            #expect(mute.with["error"] == "consent_required" && mute.with["code"] == nil)
        }
        let claims = Site.request([
            ("scope", "openid"), ("claims", #"{"userinfo":{"email":null}}"#),
        ])
        let asked = try world.sent(try await world.authorize(claims))
        _ = try await world.decide(try #require(asked.with["continue"]), allows: true)
        let tokens = try await world.redeem(try await world.code(claims))
        #expect(tokens.json["scope"] == "openid", "What is agreed to by name is no scope.")
        let access = try #require(tokens.json["access_token"]?.string)
        #expect(try await world.world.userInfo(access).json["email"] == "ann@example.org")
    }

    @Test
    func `the authorization endpoint allows no frame, no reader of another origin and no cache`()
        async throws
    {
        let world = try await Site()
        let answer = try await world.authorize()
        #expect(answer.response.headers["X-Frame-Options"] == "DENY")
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        #expect(answer.response.headers["Referrer-Policy"] == "no-referrer")
        #expect(answer.response.headers["Access-Control-Allow-Origin"] == nil)
        // The same of the page that asks, to which browsers listen by its policy.
        let browser = PageBrowser(world.world)
        try await browser.get("/login")
        let page = try #require(browser.answer)
        #expect(page.status == .ok && page.response.headers["X-Frame-Options"] == "DENY")
        let policy = try #require(page.response.headers["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; "))
        #expect(policy.contains("; frame-ancestors 'none'"))
        #expect(page.response.headers["Cache-Control"] == "no-store")
        #expect(page.response.headers["Access-Control-Allow-Origin"] == nil)
    }
}
