import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `An authorization code` {
    @Test(
        arguments: [
            [("code_verifier", "another-verifier-of-forty-three-characters-at-least")],
            [("code_verifier", "-")], [("redirect_uri", "https://web.example/other")],
            [("client_id", "second")],
        ] as [Pairs])
    func `an authorization code is its client's alone and used up by a wrong try`(
        pairs: Pairs
    ) async throws {
        let world = try await Site()
        try await world.register("second", [:])
        try await world.signIn()
        let code = try await world.code()
        let wrong = try await world.redeem(code, pairs)
        #expect(wrong.status == .badRequest && wrong.json["error"] == "invalid_grant")
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        #expect(try await world.world.events().contains("session.opened") == false)
        #expect(try await world.world.events().contains("session.refused"))
    }

    @Test(arguments: ["client_secret_basic", "client_secret_post"])
    func `MOD-13: a client's secret is taken in the header and in the form, however it registered`(
        method: String
    ) async throws {
        let world = try await Site()
        try await world.world.register(
            "other",
            [
                "redirect_uris": [.string(Site.back)], "consent": "none",
                "token_endpoint_auth_method": .string(method),
            ], secret: SignInWorld.secret)
        try await world.signIn()
        let request = Site.request([("client_id", "other")])
        func shown(_ secret: String, inForm: Bool) -> (form: Pairs, basic: String?) {
            inForm
                ? ([("client_id", "other"), ("client_secret", secret)], nil)
                : ([], "other:\(secret)".replacing(" ", with: "+"))
        }
        for inForm in [true, false] {
            let form: Pairs = [
                ("grant_type", "authorization_code"), ("redirect_uri", Site.back),
                ("code_verifier", Site.verifier),
            ]
            let wrong = shown("guess", inForm: inForm)
            let refused = try await world.world.post(
                "/connect/token",
                form: form + [("code", try await world.code(request))] + wrong.form,
                basic: wrong.basic)
            #expect(refused.status == .unauthorized && refused.json["error"] == "invalid_client")
            let right = shown(SignInWorld.secret, inForm: inForm)
            let answer = try await world.world.post(
                "/connect/token",
                form: form + [("code", try await world.code(request))] + right.form,
                basic: right.basic)
            #expect(answer.status == .ok, "\(answer.json)")
            let token = try #require(answer.json["access_token"]?.string)
            // Libraries introspect in another way than they redeem.
            let other = shown(SignInWorld.secret, inForm: !inForm)
            let known = try await world.world.post(
                "/connect/introspect", form: [("token", token)] + other.form, basic: other.basic)
            #expect(known.json["active"] == true, "\(known.json)")
        }
    }

    @Test func `an authorization code is bound to its redirect URI or to the challenge`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        #expect(try await world.redeem(world.code(), [("redirect_uri", "-")]).status == .ok)
        let plain = try await world.code(
            Site.request(without: ["code_challenge", "code_challenge_method"]))
        let bare = try await world.redeem(plain, [("redirect_uri", "-"), ("code_verifier", "-")])
        #expect(bare.json["error"] == "invalid_grant")
    }

    @Test(arguments: ["reference", "jwt"])
    func `an authorization code redeemed at another host gives tokens of its own issuer`(
        format: String
    ) async throws {
        let world = try await Site(web: ["access_token_format": .string(format)])
        world.world.directory.add(
            world.world.realm, hosts: ["shop.acme.example"], ["native_grants": true])
        try await world.signIn()
        let (_, told) = try world.sent(try await world.authorize())
        let form: Pairs = [
            ("grant_type", "authorization_code"), ("code", try #require(told["code"])),
            ("client_id", "web"), ("client_secret", SignInWorld.secret),
            ("redirect_uri", Site.back), ("code_verifier", Site.verifier),
        ]
        func send(_ form: Pairs) async throws -> JSON {
            try await world.world.send(
                Request(
                    method: .post, path: "/connect/token", query: nil,
                    headers: [
                        "Host": "shop.acme.example",
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: Array(Form.encode(form).utf8), source: "203.0.113.9", id: "request-8")
            ).json
        }
        let first = try await send(form)
        let next = try await send([
            ("grant_type", "refresh_token"), ("client_id", "web"),
            ("client_secret", SignInWorld.secret),
            ("refresh_token", first["refresh_token"]?.string ?? ""),
        ])
        let issuer = try #require(told["iss"])
        #expect(issuer == Site.issuer)
        for tokens in [first, next] {
            let idToken = try JWTWorld.claims(try #require(tokens["id_token"]?.string))
            #expect(idToken["iss"]?.string == issuer)
            let access = try #require(tokens["access_token"]?.string)
            #expect(try await world.world.introspect(access)["iss"]?.string == issuer)
            #expect(try await world.world.userInfo(access).status == .ok)
            guard format == "jwt" else { continue }
            let claims = try JWTWorld.claims(access)
            #expect(claims["iss"]?.string == issuer && claims["aud"]?.string == issuer)
        }
    }

    @Test func `an authorization code without a challenge takes no verifier`() async throws {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code(
            Site.request(without: ["code_challenge", "code_challenge_method"]))
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        let other = try await world.code(
            Site.request(without: ["code_challenge", "code_challenge_method"]))
        #expect(try await world.redeem(other, [("code_verifier", "-")]).status == .ok)
    }

    @Test func `an authorization code used again ends its session`() async throws {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code()
        let tokens = try await world.redeem(code)
        let token = try #require(tokens.json["access_token"]?.string)
        #expect(try await world.world.introspect(token)["active"] == true)
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        #expect(try await world.world.introspect(token) == ["active": false])
        let before = try await world.world.events().count
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        #expect(try await world.world.events().count == before, "Once is enough for the record.")
    }

    @Test func `an authorization code redeemed fifty times at once gives tokens once`() async throws
    {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code()
        let won = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask { try await world.redeem(code).status == .ok }
            }
            var won = 0
            for try await isWon in group where isWon { won += 1 }
            return won
        }
        #expect(won == 1)
        #expect(try await world.world.events().count { $0 == "session.opened" } == 1)
    }

    @Test func `an expired authorization code is recorded once and stays expired on a slow clock`()
        async throws
    {
        let world = try await Site(["code_lifetime": 10])
        try await world.signIn()
        let code = try await world.code()
        world.world.clock.advance(seconds: 11)
        let before = try await world.world.events().count
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        #expect(try await world.world.events().count == before + 1)
        world.world.clock.advance(seconds: -11)
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        #expect(try await world.world.events().count == before + 1)
        #expect(try await world.world.events().contains("session.opened") == false)
    }

    @Test func `an authorization code that was altered, or is of another kind, is refused`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code()
        var bytes = try #require(Base64URL.decode(code))
        bytes[20] ^= 1
        let login = try await world.authorize(Site.request([("prompt", "login")]))
        let sealed = try #require(try world.sent(login).with["continue"])
        for forged in [Base64URL.encode(bytes), sealed, "x", String(code.dropLast())] {
            #expect(try await world.redeem(forged).json["error"] == "invalid_grant")
        }
        #expect(try await world.redeem(code).status == .ok)
    }

    @Test func `an authorization code is refused for an account that was closed meanwhile`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let code = try await world.code()
        try await world.world.carryOut(AccountChange.disable(world.ann))
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
    }

    @Test func `an authorization code gives no token that outlives its session`() async throws {
        let (day, week): (Int64, Int64) = (86_400, 604_800)
        let world = try await Site([
            "session_lifetime": .integer(day), "access_token_lifetime": .integer(week),
        ])
        try await world.signIn()
        let tokens = try await world.redeem(try await world.code())
        let access = try #require(tokens.json["access_token"]?.string)
        world.world.clock.advance(seconds: day - 60)
        #expect(try await world.world.introspect(access)["active"] == true)
        world.world.clock.advance(seconds: 61)
        #expect(try await world.world.introspect(access) == ["active": false])
        #expect(try await world.world.userInfo(access).status == .unauthorized)
    }

    @Test func `an authorization code keeps its resources, of which the client may choose some`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let (one, two) = ("https://api.example", "https://files.example")
        let code = try await world.code(
            Site.request([("resource", one), ("resource", two)]))
        let tokens = try await world.redeem(code, [("resource", one)])
        let token = try #require(tokens.json["access_token"]?.string)
        #expect(try await world.world.introspect(token)["aud"] == [.string(one)])
        let other = try await world.code(Site.request([("resource", one)]))
        let wider = try await world.redeem(other, [("resource", two)])
        #expect(wider.json["error"] == "invalid_target")
    }
}
