import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

extension AuthorizeWorld {
    /// With Ann signed in.
    static func signedIn(web: JSONObject = [:]) async throws -> AuthorizeWorld {
        let world = try await AuthorizeWorld(web: web)
        try await world.signIn()
        return world
    }

    func tokens(_ more: Pairs = [], without: Set<String> = []) async throws -> Answered {
        try await redeem(try await code(Self.request(more, without: without)))
    }

    /// Where a request ends: with a code, an error, or at a page.
    func end(_ more: Pairs = [], without: Set<String> = []) async throws -> [String: String] {
        try sent(try await authorize(Self.request(more, without: without))).with
    }

    /// The login page is shown, somebody signs in, and comes back.
    func loggingIn(_ more: Pairs) async throws -> Answered {
        let (page, members) = try sent(try await authorize(Self.request(more)))
        #expect(page == "/login")
        try await signIn()
        let back = try sent(try await authorize([("continue", try #require(members["continue"]))]))
        return try await redeem(try #require(back.with["code"]))
    }
}

private let profileClaims = ["name", "given_name", "family_name", "updated_at"]
private let emailClaims = ["email", "email_verified"]

/// The modules of the basic certification of OpenID providers, in their order.
@Suite struct `OIDC basic` {
    @Test func `OIDC basic 01: the whole code flow succeeds`() async throws {
        let world = try await Site.signedIn()
        let code = try await world.code()
        let answer = try await world.redeem(code)
        #expect(answer.status == .ok && answer.json["token_type"] == "Bearer")
        #expect(answer.response.headers["Cache-Control"] == "no-store")
        let access = try #require(answer.json["access_token"]?.string)
        let token = try await world.idToken(answer)
        #expect(token.accessTokenHash != nil && token.issuedAt < token.expiresAt)
        #expect(code.utf8.count >= 43 && access.utf8.count >= 43)
        let info = try await world.world.userInfo(access)
        #expect(info.status == .ok && info.json["sub"] == .string(token.subject))
    }

    @Test func `OIDC basic 02: a request without response_type is refused`() async throws {
        let world = try await Site.signedIn()
        #expect(try await world.end(without: ["response_type"])["error"] == "invalid_request")
    }

    @Test func `OIDC basic 03: an ID token is signed with RS256 by default`() async throws {
        let answer = try await Site.signedIn().tokens()
        let text = try #require(answer.json["id_token"]?.string)
        #expect(try header(of: text)["alg"] == "RS256")
    }

    @Test func `OIDC basic 04: an ID token is never unsigned`() async throws {
        let world = try await Site()
        await #expect(throws: (any Error).self) {
            try await world.register("bare", ["id_token_signed_response_alg": "none"])
        }
        let metadata = try await world.world.get("/.well-known/openid-configuration").json
        #expect(metadata["id_token_signing_alg_values_supported"] == ["RS256", "ES256"])
    }

    @Test func `OIDC basic 05-07: user info answers GET, POST with a header and POST with a form`()
        async throws
    {
        let world = try await Site.signedIn()
        let token = try #require(try await world.tokens().json["access_token"]?.string)
        let path = "/connect/userinfo"
        let get = try await world.world.userInfo(token)
        let post = try await world.world.call(.post, path, as: token)
        let form = try await world.world.post(path, form: [("access_token", token)])
        for answer in [get, post, form] {
            #expect(answer.status == .ok && answer.json["sub"] == .string(world.ann.description))
            #expect(answer.response.headers["Content-Type"] == "application/json")
        }
    }

    @Test func `OIDC basic 08: a request without a nonce is accepted`() async throws {
        let world = try await Site.signedIn()
        let answer = try await world.tokens(without: ["nonce"])
        #expect(try await world.idToken(answer, nonce: nil).nonce == nil)
    }

    @Test(
        arguments: [
            ("09", "profile", profileClaims), ("10", "email", emailClaims), ("11", "address", []),
            ("12", "phone", []), ("13", "profile email address phone", profileClaims + emailClaims),
            ("none", "offline_access", []),
        ] as [(String, String, [String])])
    func `OIDC basic 09-13: claims of scopes stand at user info, not in the ID token`(
        number: String, scope: String, names: [String]
    ) async throws {
        let world = try await Site.signedIn()
        let answer = try await world.tokens([("scope", "openid \(scope)")])
        let info = try await world.world.userInfo(
            try #require(answer.json["access_token"]?.string)
        ).json
        let inside = try payload(of: try #require(answer.json["id_token"]?.string))
        for name in names { #expect(info[name] != nil && inside[name] == nil, "\(name)") }
        #expect(info["email_verified"].map { $0.bool != nil } ?? true)
        #expect(info["updated_at"].map { $0.integer != nil } ?? true)
        // What belongs to a scope that was not asked for stays with us.
        let told = Set((info.object ?? [:]).keys)
        #expect(told.subtracting(["locale", "preferred_username"]) == Set(names + ["sub"]))
        if !scope.contains("profile") { #expect(told == Set(names + ["sub"])) }
    }

    @Test func `OIDC basic 14: scopes and parameters may come in any order`() async throws {
        let world = try await Site.signedIn()
        let pairs = Site.request([("scope", "profile email openid")]).reversed()
        let answer = try await world.authorize(Array(pairs))
        #expect(try world.sent(answer).with["code"] != nil)
    }

    @Test(arguments: [
        ("15", "display", "page"), ("16", "display", "popup"), ("22", "extra", "foobar"),
        ("24", "login_hint", "buffy"), ("25", "ui_locales", "se"), ("26", "claims_locales", "se"),
    ])
    func `OIDC basic 15-16, 22, 24-26: optional parameters are accepted without effect`(
        number: String, name: String, value: String
    ) async throws {
        #expect(try await Site.signedIn().end([(name, value)])["code"] != nil)
    }

    @Test func `OIDC basic 17: prompt=login asks for a new login`() async throws {
        let world = try await Site.signedIn()
        let before = try await world.idToken(try await world.tokens())
        world.world.clock.advance(seconds: 5)
        let after = try await world.idToken(try await world.loggingIn([("prompt", "login")]))
        let times = (before.authenticatedAt, after.authenticatedAt)
        #expect(try #require(times.0) < (try #require(times.1)))
    }

    @Test func `OIDC basic 18: prompt=none is refused where nobody is signed in`() async throws {
        let end = try await Site().end([("prompt", "none")])
        #expect(end["error"] == "login_required" && end["code"] == nil)
    }

    @Test func `OIDC basic 19: prompt=none is answered with a code where a person is signed in`()
        async throws
    {
        let world = try await Site.signedIn()
        let before = try await world.idToken(try await world.tokens())
        world.world.clock.advance(seconds: 5)
        let after = try await world.idToken(try await world.tokens([("prompt", "none")]))
        #expect(before.subject == after.subject)
        #expect(before.authenticatedAt == after.authenticatedAt)
    }

    @Test func `OIDC basic 20: max_age=1 asks for a new login after more than a second`()
        async throws
    {
        let world = try await Site.signedIn()
        let before = try await world.idToken(try await world.tokens())
        world.world.clock.advance(seconds: 5)
        let after = try await world.idToken(try await world.loggingIn([("max_age", "1")]))
        let times = (before.authenticatedAt, after.authenticatedAt)
        #expect(try #require(times.0) < (try #require(times.1)))
    }

    @Test func `OIDC basic 21: max_age=10000 accepts the present login`() async throws {
        let world = try await Site.signedIn()
        let before = try await world.idToken(try await world.tokens())
        world.world.clock.advance(seconds: 5)
        let after = try await world.idToken(try await world.tokens([("max_age", "10000")]))
        #expect(after.authenticatedAt != nil && before.authenticatedAt == after.authenticatedAt)
    }

    @Test func `OIDC basic 23: id_token_hint with prompt=none is answered for the same person`()
        async throws
    {
        let world = try await Site.signedIn()
        let hint = try #require(try await world.tokens().json["id_token"]?.string)
        let answer = try await world.tokens([("prompt", "none"), ("id_token_hint", hint)])
        #expect(try await world.idToken(answer).subject == world.ann.description)
    }

    @Test func `OIDC basic 27: acr_values are accepted`() async throws {
        let world = try await Site.signedIn()
        let level = "urn:modgud:acr:single"
        let answer = try await world.tokens([("acr_values", level)])
        #expect(try await world.idToken(answer).authenticationContext == level)
    }

    @Test(arguments: [("28", 0), ("29", 30)])
    func `OIDC basic 28-29: a code used again is refused, at once and after half a minute`(
        number: String, seconds: Int64
    ) async throws {
        let world = try await Site.signedIn()
        let code = try await world.code()
        let first = try await world.redeem(code)
        world.world.clock.advance(seconds: seconds)
        let again = try await world.redeem(code)
        #expect(again.status == .badRequest && again.json["error"] == "invalid_grant")
        let access = try #require(first.json["access_token"]?.string)
        #expect(try await world.world.introspect(access) == ["active": false])
    }

    @Test func `OIDC basic 30: an unregistered redirect_uri is refused`() async throws {
        let world = try await Site.signedIn()
        let answer = try await world.authorize(
            Site.request([("redirect_uri", "https://web.example/other")]))
        #expect(answer.status == .badRequest && answer.response.headers["Location"] == nil)
    }

    @Test func `OIDC basic 31: a request by POST is accepted`() async throws {
        let world = try await Site.signedIn()
        let answer = try await world.authorize(Site.request(), method: .post)
        #expect(try world.sent(answer).with["code"] != nil)
    }

    @Test(arguments: ["client_secret_post", "client_secret_basic"])
    func `OIDC basic 32: a secret is accepted in the form and in the header`(method: String)
        async throws
    {
        let world = try await Site.signedIn()
        try await world.world.register(
            "other",
            [
                "redirect_uris": [.string(Site.back)], "consent": "none",
                "token_endpoint_auth_method": .string(method),
            ], secret: SignInWorld.secret)
        let code = try await world.code(Site.request([("client_id", "other")]))
        let form: Pairs = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Site.back),
            ("code_verifier", Site.verifier),
        ]
        let secret: Pairs = [("client_id", "other"), ("client_secret", SignInWorld.secret)]
        let isPost = method == "client_secret_post"
        let answer = try await world.world.post(
            "/connect/token", form: isPost ? form + secret : form,
            basic: isPost ? nil : "other:\(SignInWorld.secret)".replacing(" ", with: "+"))
        #expect(answer.status == .ok, "\(answer.json)")
        // And it is the secret that counts.
        let next = try await world.code(Site.request([("client_id", "other")]))
        let guess = form.filter { $0.name != "code" } + [("code", next)]
        let wrong = try await world.world.post(
            "/connect/token",
            form: isPost ? guess + [("client_id", "other"), ("client_secret", "guess")] : guess,
            basic: isPost ? nil : "other:guess")
        #expect(wrong.status == .unauthorized && wrong.json["error"] == "invalid_client")
    }

    @Test(arguments: [
        ("33", "request_uri", "https://web.example/request", "request_uri_not_supported"),
        ("34", "request", "eyJhbGciOiJub25lIn0.e30.", "invalid_request_object"),
        (
            "36", "request",
            "eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZS8ifQ.",
            "invalid_request_object"
        ),
    ])
    func `OIDC basic 33-34, 36: unsigned request objects are refused, not ignored`(
        number: String, name: String, value: String, code: String
    ) async throws {
        let world = try await Site.signedIn()
        let answer = try await world.authorize(Site.request([(name, value)]))
        let (place, members) = try world.sent(answer)
        #expect(place == Site.back && members["error"] == code && members["code"] == nil)
    }

    @Test func `OIDC basic 35: an essential name requested by claims is returned`() async throws {
        let world = try await Site.signedIn()
        let claims = #"{"userinfo":{"name":{"essential":true}}}"#
        let answer = try await world.tokens([("scope", "openid"), ("claims", claims)])
        let info = try await world.world.userInfo(
            try #require(answer.json["access_token"]?.string))
        #expect(info.json["name"] == "Ann Lee")
        let plain = try await world.tokens([("scope", "openid")])
        let without = try await world.world.userInfo(
            try #require(plain.json["access_token"]?.string))
        #expect(without.json["sub"] != nil && without.json["name"] == nil)
    }

    @Test func `OIDC basic 37: refresh tokens give new tokens`() async throws {
        let world = try await Site.signedIn()
        try await world.register("second", [:])
        let first = try await world.tokens()
        let before = try await world.idToken(first)
        world.world.clock.advance(seconds: 5)
        func refresh(_ client: String) async throws -> Answered {
            try await world.world.post(
                "/connect/token",
                form: [
                    ("grant_type", "refresh_token"), ("client_id", client),
                    ("client_secret", SignInWorld.secret),
                    ("refresh_token", first.json["refresh_token"]?.string ?? ""),
                ])
        }
        let foreign = try await refresh("second")
        #expect(foreign.status == .badRequest && foreign.json["error"] == "invalid_grant")
        let answer = try await refresh("web")
        #expect(answer.status == .ok && answer.json["token_type"] == "Bearer")
        #expect(answer.json["access_token"] != first.json["access_token"])
        let after = try await world.idToken(answer, nonce: nil)
        #expect((after.issuer, after.subject) == (before.issuer, before.subject))
        #expect(after.authenticatedAt == before.authenticatedAt)
        #expect(after.nonce == nil && after.issuedAt > before.issuedAt)
        for name in ["access_token", "refresh_token"] {
            let text = try #require(answer.json[name]?.string)
            #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }

    @Test func `OIDC basic 38: PKCE breaks no request`() async throws {
        let world = try await Site.signedIn()
        let (code, none) = (["code_challenge", "code_challenge_method"] as Set, "-")
        #expect(try await world.tokens().status == .ok)
        // A request without a challenge is as good as before, and one with a challenge is held to it.
        let plain = try await world.code(Site.request(without: code))
        #expect(try await world.redeem(plain, [("code_verifier", none)]).status == .ok)
        for verifier in [none, Site.verifier + "x", Site.challenge] {
            let bound = try await world.code()
            let answer = try await world.redeem(bound, [("code_verifier", verifier)])
            #expect(answer.status == .badRequest && answer.json["error"] == "invalid_grant")
        }
        let end = try await world.end([("code_challenge_method", "plain")])
        #expect(end["error"] == "invalid_request" && end["code"] == nil)
    }
}

@Suite struct `OIDC basic, errors` {
    @Test(
        arguments: [
            [("scope", "x")], [("response_type", "token")], [("prompt", "none login")],
            [("claims", "{")], [("request", "x")], [("max_age", "-1")], [("resource", "#")],
            [("registration", "{}")],
        ] as [Pairs])
    func `OIDC basic: errors carry state, issuer and an ASCII sentence, and no code`(
        more: Pairs
    ) async throws {
        let end = try await Site.signedIn().end(more)
        #expect(end["state"] == "a state&more" && end["iss"] == Site.issuer)
        #expect(end["code"] == nil && end["error"] != nil)
        let sentence = try #require(end["error_description"])
        #expect(
            sentence.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C
            })
    }
}
