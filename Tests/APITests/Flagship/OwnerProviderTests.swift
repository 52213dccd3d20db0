import EventSourcing
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `An owner linked to a provider` {
    private let provider = StandIn()

    private func world(
        tokens: Bool = false
    ) async throws -> (FlagshipWorld, TestInstallation) {
        let world = try await FlagshipWorld(callProviders: provider.calls)
        provider.clock.withLock { $0 = world.world.clock }
        try await world.world.carryOut(ProviderChange.configure(.standIn(tokens: tokens)))
        try await world.world.link(world.account)
        let app = try await world.certified()
        _ = try await world.onboard(app)
        return (world, app)
    }

    private func delegated(
        _ world: FlagshipWorld, _ subject: String = "248289761001", session: String? = nil
    ) async throws -> String {
        try await world.delegatedCode(subject, session: session)
    }

    private func ask(
        _ world: FlagshipWorld, _ app: TestInstallation, _ members: JSONObject
    ) async throws -> Answered {
        try await world.send(
            .post, "/oidc/access_token",
            json: app.members((["scope": "*"] as JSONObject).merging(members) { $1 }))
    }

    @Test func `COZ-18: an owner's delegated code is checked in the profile's order`() async throws
    {
        let (world, app) = try await world()
        let code = JSON.string(try await delegated(world))
        let nobody = TestInstallation(id: "x", secret: "y", token: "")
        func refused(_ answer: Answered, _ error: JSON) {
            #expect(answer.status == .badRequest)
            #expect(answer.json == ["error": error])
        }
        refused(try await ask(world, nobody, ["code": "x", "scope": ""]), "invalid code")
        refused(
            try await ask(world, nobody, ["oidc_token": "x"]), "this endpoint is not enabled")
        refused(try await ask(world, nobody, [:]), "this endpoint is not enabled")
        refused(try await ask(world, nobody, ["id_token": "x"]), "invalid token")
        refused(
            try await ask(world, nobody, ["code": code, "scope": ""]),
            "the client must be registered")
        var other = app
        other.secret = "y"
        refused(try await ask(world, other, ["code": code, "scope": ""]), "invalid client_secret")
        for scope in ["", "* files", "\"", "\\"] {
            refused(
                try await ask(world, app, ["code": code, "scope": .string(scope)]),
                "invalid scope")
        }
        // None of that used it up.
        let tokens = try await ask(world, app, ["code": code])
        #expect(tokens.status == .ok)
        #expect(tokens.json["scope"] == "*")
        refused(try await ask(world, app, ["code": code]), "invalid code")
        #expect(try await world.happened("session.opened").last?.open["amr"] == ["fed"])
    }

    @Test
    func `COZ-18: an owner's delegated code gives an uncertified app a web view or its scopes`()
        async throws
    {
        let (world, _) = try await world()
        let plain = try await world.register("Plain")
        let all = try await ask(
            world, plain, ["code": .string(try await delegated(world))])
        #expect(all.status == .accepted)
        #expect(all.json.object?.keys.sorted() == ["session_code"])
        let some = try await ask(
            world, plain, ["code": .string(try await delegated(world)), "scope": "files"])
        #expect(some.status == .ok)
        #expect(some.json["scope"] == "files")
    }

    @Test func `COZ-18: an owner's delegated code is sent again with the mailed digits`()
        async throws
    {
        let (world, app) = try await world()
        try await world.world.carryOut(DemandMailedCodes())
        let code = JSON.string(try await delegated(world))
        let asked = try await ask(world, app, ["code": code, "scope": ""])
        #expect(asked.status == .unauthorized)
        #expect(asked.json["error"] == "two factor needed")
        let token = try #require(asked.json["two_factor_token"])
        let digits = try await world.mailedDigits()
        func second(_ typed: String) async throws -> Answered {
            try await ask(
                world, app,
                [
                    "code": code, "two_factor_token": token,
                    "two_factor_passcode": .string(typed),
                ])
        }
        #expect(try await second(digits == "000000" ? "1" : "000000").status == .forbidden)
        #expect(try await second(digits).status == .ok)
        // Who shows nothing good has nothing mailed.
        let before = try await world.happened("mailed_code.issued").count
        _ = try await ask(world, app, ["code": "x"])
        #expect(try await world.happened("mailed_code.issued").count == before)
    }

    @Test func `COZ-18: an owner's delegated code used fifty times at once signs in once`()
        async throws
    {
        let (world, app) = try await world()
        let code = JSON.string(try await delegated(world))
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await ask(world, app, ["code": code]).status.code }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(try await world.happened("delegated_code.used").count == 1)
    }

    @Test func `COZ-18: an owner's delegated code is valid for three hours, for the owner alone`()
        async throws
    {
        let (world, app) = try await world()
        let stranger = try await ask(
            world, app, ["code": .string(try await delegated(world, "stranger"))])
        #expect(stranger.json["error"] == "invalid code")
        let code = JSON.string(try await delegated(world))
        world.world.clock.advance(seconds: DelegatedCode.lifetime)
        #expect(try await ask(world, app, ["code": code]).json["error"] == "invalid code")
        let next = JSON.string(try await delegated(world))
        try await world.world.carryOut(ProviderChange.remove("corporate"))
        #expect(try await ask(world, app, ["code": next]).json["error"] == "invalid code")
    }

    @Test
    func `COZ-18: an owner's ID token that the provider issued to the realm is accepted once`()
        async throws
    {
        let (world, app) = try await world()
        for wrong in [
            provider.idToken("stranger"), provider.idToken("248289761001", ["aud": "other"]),
            provider.idToken("248289761001", ["exp": 1]),
            provider.idToken("248289761001", ["iss": "https://evil.example"]),
        ] {
            let answer = try await ask(world, app, ["id_token": .string(wrong)])
            #expect(answer.json["error"] == "invalid token")
        }
        let token = JSON.string(provider.idToken())
        #expect(try await ask(world, app, ["id_token": token]).status == .ok)
        #expect(try await ask(world, app, ["id_token": token]).json["error"] == "invalid token")
    }

    @Test func `COZ-18: an owner's ID token of before a log-out everywhere is over`() async throws {
        let (world, app) = try await world(tokens: true)
        let old = JSON.string(provider.idToken())
        let code = try await delegated(world)
        try await world.world.carryOut(RotateSecurityStamp(account: world.account))
        #expect(try await ask(world, app, ["id_token": old]).json["error"] == "invalid token")
        let page = try await world.page("/oidc/login?code=\(code)")
        #expect(page.answer?.status == .badRequest)
        #expect(page.cookies["__Host-urd"] == nil)
        // The provider is asked now whose an access token is.
        #expect(try await ask(world, app, ["oidc_token": "good"]).status == .ok)
        world.world.clock.advance(seconds: 1)
        let next = JSON.string(provider.idToken())
        #expect(try await ask(world, app, ["id_token": next]).status == .ok)
        let signed = try await delegated(world)
        let browser = try await world.page("/oidc/login?code=\(signed)")
        #expect(browser.cookies["__Host-urd"] != nil)
    }

    @Test func `COZ-18: a provider's access tokens are accepted only where the realm allows it`()
        async throws
    {
        let (world, app) = try await world(tokens: true)
        #expect(
            try await ask(world, app, ["oidc_token": "bad"]).json["error"] == "invalid token")
        #expect(try await ask(world, app, ["oidc_token": "good"]).status == .ok)
        #expect(
            try await ask(world, app, ["oidc_token": "good"]).json["error"] == "invalid token")
    }

    @Test func `COZ-18: an owner's delegated code opens a browser session once`() async throws {
        let (world, _) = try await world()
        let code = try await delegated(world)
        let browser = try await world.page(
            "/oidc/login?code=\(code)&redirect=%2Faccount%2Fsecurity")
        #expect(browser.place == "/account/security#")
        #expect(browser.cookies["__Host-urd"] != nil)
        let thief = try await world.page("/oidc/login?code=\(code)")
        #expect(thief.answer?.status == .badRequest)
        #expect(thief.cookies["__Host-urd"] == nil)
        #expect(try await world.page("/oidc/login?code=x").answer?.status == .badRequest)
    }

    @Test func `COZ-18: an owner signs in with a browser at the profile's address for providers`()
        async throws
    {
        let (world, _) = try await world()
        try await world.world.carryOut(DemandMailedCodes())
        let browser = try await world.page("/oidc/start?redirect=%2Faccount%2Fdata")
        let place = try #require(browser.place)
        #expect(place.contains("redirect_uri=http%3A%2F%2Fid.acme.example%2Foidc%2Fredirect&"))
        let pairs = try provider.answer(place)
        try await browser.get("/oidc/redirect?\(Form.encode(pairs))")
        #expect(browser.shows("Check your e-mail"))
        let digits = try await world.mailedDigits()
        let path = "/oidc/twofactor"
        try await browser.submit(
            path,
            [
                ("ticket", browser.value(of: "ticket") ?? ""),
                ("two-factor-passcode", digits == "000000" ? "1" : "000000"),
            ])
        #expect(browser.answer?.status == .forbidden)
        try await browser.submit(
            path,
            [("ticket", browser.value(of: "ticket") ?? ""), ("two-factor-passcode", digits)])
        #expect(browser.place == "/account/data#")
    }

    @Test func `COZ-18: the owner's providers are listed before a sign-in`() async throws {
        let (world, _) = try await world()
        #expect(try await world.send(.get, "/public/prelogin").json["OIDC"] == true)
        #expect(try await world.send(.get, "/public/prelogin").json["FranceConnect"] == false)
        let capabilities = try await world.send(.get, "/settings/capabilities")
        #expect(capabilities.json["data"]?["attributes"]?["can_auth_with_oidc"] == true)
    }

    @Test func `COZ-18: an owner's logout at the provider ends the app's session, and the reverse`()
        async throws
    {
        let (world, app) = try await world()
        let tokens = try await ask(
            world, app, ["code": .string(try await delegated(world, session: "s-7"))])
        let access = try #require(tokens.json["access_token"]?.string)
        #expect(try await world.sessionCode(access).status == .created)
        let token = provider.logoutToken(["sid": "s-7", "sub": .null])
        #expect(
            try await world.world.post("/oidc/any/logout", form: [("logout_token", token)]).status
                == .ok)
        #expect(try await world.sessionCode(access).json["error"] == "Invalid JWT token")
        let gone = try await world.send(
            .delete, "/auth/register/\(app.id)", bearer: app.token)
        #expect(gone.status == .noContent)
        let called = provider.asked.withLock { $0.last { $0.contains("/logout?") } }
        #expect(called == "\(StandIn.issuer)/logout?client_id=urd&sid=s-7&logout_hint=s-7")
    }

    @Test func `COZ-18: an owner signs in with FranceConnect under its own name, where configured`()
        async throws
    {
        let (world, _) = try await world()
        let browser = PageBrowser(world.world)
        #expect(try await browser.get("/oidc/franceconnect").status == .notFound)
        let known = try await world.send(.get, "/public/prelogin").json
        #expect(known["OIDC"] == true && known["FranceConnect"] == false)
        try await world.world.carryOut(ProviderChange.configure(.standIn("franceconnect")))
        let told = try await world.send(.get, "/public/prelogin").json
        #expect(told["OIDC"] == true && told["FranceConnect"] == true)
        #expect(try await browser.get("/oidc/franceconnect?redirect=/account").status == .seeOther)
        #expect(browser.place == "/oidc/start?provider=franceconnect&redirect=%2Faccount")
        try await browser.follow()
        #expect(browser.place?.hasPrefix("\(StandIn.issuer)/authorize?") == true)
        try await world.world.carryOut(ProviderChange.remove("corporate"))
        let alone = try await world.send(.get, "/public/prelogin").json
        #expect(alone["OIDC"] == false && alone["FranceConnect"] == true)
    }
}
