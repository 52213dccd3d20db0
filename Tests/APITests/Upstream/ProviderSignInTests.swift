import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `Signing in by a provider` {
    private let provider = StandIn()

    /// A realm with the provider, and Ann who has an account.
    private func world(
        _ settings: JSONObject = [:]
    ) async throws -> (SignInWorld, PageBrowser, account: UUID) {
        let world = try await SignInWorld(
            (["registration": "jit_on_otp"] as JSONObject).merging(PageBrowser.unlimited) { $1 }
                .merging(settings) { $1 }, callProviders: provider.calls)
        provider.clock.withLock { $0 = world.clock }
        try await world.carryOut(ProviderChange.configure(.standIn()))
        let browser = PageBrowser(world)
        try await browser.signIn()
        let opened = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .last { $0.name == "browser.opened" }
        let account = try #require(opened?.open["account"]?.string.flatMap { UUID($0) })
        return (world, browser, account)
    }

    private func go(
        _ browser: PageBrowser, _ place: String = "/oidc/start?provider=corporate"
    ) async throws -> String {
        try await browser.get(place)
        return try #require(browser.place)
    }

    private func comeBack(
        _ browser: PageBrowser, _ pairs: [Form.Pair], to path: String = "/oidc/redirect/corporate"
    ) async throws {
        try await browser.get("\(path)?\(Form.encode(pairs))")
    }

    @Test func `a provider sign-in returns to the requested page`() async throws {
        let (world, _, account) = try await world()
        try await world.link(account)
        let browser = PageBrowser(world)
        try await browser.get("/login?next=/account/security")
        #expect(browser.shows("Sign in with Corporate"))
        #expect(browser.shows("/oidc/start?next=%2Faccount%2Fsecurity&amp;provider=corporate"))
        let place = try await go(
            browser, "/oidc/start?next=%2Faccount%2Fsecurity&provider=corporate")
        #expect(browser.cookies["__Host-urd-provider"] != nil)
        try await comeBack(browser, try provider.answer(place))
        #expect(browser.place == "/account/security", "\(browser.page)")
        #expect(browser.cookies["__Host-urd-provider"] == nil)
        try await browser.follow()
        #expect(browser.answer?.status == .ok)
        #expect(browser.shows("Connected"))
        let opened = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .last { $0.name == "browser.opened" }
        #expect(opened?.open["method"] == "provider")
        #expect(opened?.open["amr"] == ["fed"])
    }

    @Test func `a provider sign-in creates no account by a mail address without confirmation`()
        async throws
    {
        let (world, mine, _) = try await world()
        let stranger = PageBrowser(world)
        let place = try await go(stranger)
        try await comeBack(
            stranger,
            try provider.answer(
                place, as: "thief", ["email": "ann@example.org", "email_verified": true]))
        #expect(stranger.answer?.status == .forbidden)
        #expect(stranger.cookies["__Host-urd"] == nil)
        // Ann connects what is hers.
        try await mine.get("/account/security")
        try await mine.submit("/account/providers/connect", [("provider", "corporate")])
        try await comeBack(mine, try provider.answer(try #require(mine.place)))
        #expect(mine.place == "/account/security?done=provider-connected", "\(mine.page)")
        #expect(try await world.events().contains("identity.linked"))
        let browser = PageBrowser(world)
        try await comeBack(browser, try provider.answer(try await go(browser)))
        #expect(browser.place == "/account")
        // And lets go of it.
        try await mine.get("/account/security")
        try await mine.submit("/account/providers/disconnect", [("provider", "corporate")])
        #expect(mine.place == "/account/security?done=provider-disconnected")
        let late = PageBrowser(world)
        try await comeBack(late, try provider.answer(try await go(late)))
        #expect(late.answer?.status == .forbidden)
    }

    @Test func `a provider sign-in links no account of another person or browser`()
        async throws
    {
        let (world, mine, account) = try await world()
        try await world.link(account)
        let other = PageBrowser(world)
        try await other.signIn("bob@example.org")
        try await other.get("/account/security")
        try await other.submit("/account/providers/connect", [("provider", "corporate")])
        let pairs = try provider.answer(try #require(other.place))
        // Ann is led to Bob's answer: her browser did not ask.
        try await comeBack(mine, pairs)
        #expect(mine.answer?.status == .badRequest)
        try await comeBack(other, pairs)
        #expect(other.answer?.status == .badRequest)
        #expect(other.shows("another account"))
        #expect(try await world.events().count { $0 == "identity.linked" } == 1)
    }

    @Test func `a provider's answer to another browser's request is refused (login CSRF)`()
        async throws
    {
        let (world, _, account) = try await world()
        try await world.link(account)
        let (attacker, victim) = (PageBrowser(world), PageBrowser(world))
        let pairs = try provider.answer(try await go(attacker))
        try await comeBack(victim, pairs)
        #expect(victim.answer?.status == .badRequest)
        // Nor where that browser asked for something of its own.
        _ = try await go(victim)
        try await comeBack(victim, pairs)
        #expect(victim.answer?.status == .badRequest)
        #expect(victim.cookies["__Host-urd"] == nil)
        // The code was not even looked at.
        #expect(provider.asked.withLock { $0.contains("\(StandIn.issuer)/token") } == false)
    }

    @Test func `a provider's answer is accepted once, within fifteen minutes`() async throws {
        let (world, _, account) = try await world()
        try await world.link(account)
        let browser = PageBrowser(world)
        let place = try await go(browser)
        let cookie = browser.cookies["__Host-urd-provider"]
        try await comeBack(browser, try provider.answer(place))
        #expect(browser.place == "/account")
        // With a new code of the provider as well.
        browser.cookies["__Host-urd-provider"] = cookie
        try await comeBack(browser, try provider.answer(place))
        #expect(browser.answer?.status == .badRequest)
        let late = PageBrowser(world)
        let pairs = try provider.answer(try await go(late))
        world.clock.advance(seconds: PendingUpstream.lifetime)
        try await comeBack(late, pairs)
        #expect(late.answer?.status == .badRequest)
    }

    @Test func `a provider that was removed meanwhile signs nobody in`() async throws {
        let (world, _, account) = try await world()
        try await world.link(account)
        let browser = PageBrowser(world)
        let pairs = try provider.answer(try await go(browser))
        try await world.carryOut(ProviderChange.remove("corporate"))
        try await comeBack(browser, pairs)
        #expect((400..<500).contains(browser.answer?.status.code ?? 0))
        #expect(browser.cookies["__Host-urd"] == nil)
        try await browser.get("/oidc/start?provider=corporate")
        #expect(browser.place == nil || browser.place?.hasPrefix("/") == true)
    }

    @Test func `a provider's token for another client, or a faulty one, is refused`() async throws {
        let (world, _, account) = try await world()
        try await world.link(account)
        let stranger = try SigningKey.pooled(.es256, id: provider.key?.id)
        let wrong: [JSONObject] = [
            ["nonce": "another"], ["nonce": .null], ["aud": "somebody else"],
            ["aud": ["urd", "somebody else"]],
            ["iss": "https://evil.example"], ["exp": 1], ["azp": "somebody else"],
            // A logout token that says no more of what it is (OpenID Connect Back-Channel Logout section 2.4).
            ["events": ["http://schemas.openid.net/event/backchannel-logout": [:]]],
        ]
        for claims in wrong {
            let browser = PageBrowser(world)
            try await comeBack(
                browser, try provider.answer(try await go(browser), as: "248289761001", claims))
            #expect(browser.answer?.status == .badRequest, "\(claims)")
            #expect(browser.cookies["__Host-urd"] == nil)
        }
        let parts = provider.idToken().split(separator: ".").map(String.init)
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
        let symmetric = Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        for forged in [
            provider.idToken(by: stranger), "\(none).\(parts[1]).",
            "\(none).\(parts[1]).\(parts[2])",
            "\(symmetric).\(parts[1]).\(parts[2])", "x", "",
        ] {
            provider.forged.withLock { $0 = forged }
            let browser = PageBrowser(world)
            try await comeBack(browser, try provider.answer(try await go(browser)))
            #expect(browser.answer?.status == .badRequest)
        }
    }

    @Test func `a provider sign-in asks for the account's second factor`() async throws {
        let (world, _, account) = try await world(["otp_resend_delay": 0])
        try await world.link(account)
        let (app, _) = try await world.enroll(try await world.token())
        let browser = PageBrowser(world)
        try await comeBack(browser, try provider.answer(try await go(browser)))
        #expect(browser.shows("Confirm it is you"))
        #expect(browser.cookies["__Host-urd"] == nil)
        let ticket = try #require(browser.value(of: "ticket"))
        try await browser.submit("/oidc/twofactor", [("ticket", ticket), ("totp", "000000")])
        #expect(browser.answer?.status == .badRequest)
        let thief = PageBrowser(world)
        try await thief.get("/login")
        try await thief.submit(
            "/oidc/twofactor", [("ticket", ticket), ("totp", try app.code(at: world.clock))])
        #expect(thief.answer?.status == .badRequest)
        #expect(thief.cookies["__Host-urd"] == nil)
        try await browser.submit(
            "/oidc/twofactor",
            [
                ("ticket", browser.value(of: "ticket") ?? ""),
                ("totp", try app.code(at: world.clock)),
            ])
        #expect(browser.place == "/account", "\(browser.page)")
    }

    @Test func `a provider's logout token ends the session here`() async throws {
        let (world, _, account) = try await world()
        try await world.link(account)
        let (one, two) = (PageBrowser(world), PageBrowser(world))
        try await comeBack(one, try provider.answer(try await go(one), session: "s-1"))
        try await comeBack(two, try provider.answer(try await go(two), session: "s-2"))
        func logOut(_ token: String) async throws -> Status {
            try await world.post("/oidc/acme/logout", form: [("logout_token", token)]).status
        }
        let sid: JSONObject = ["sid": "s-1"]
        let stranger = try SigningKey.pooled(.es256, id: provider.key?.id)
        for bad in [
            provider.logoutToken(sid.merging(["nonce": "n"]) { $1 }),
            provider.logoutToken(sid.merging(["events": .null]) { $1 }),
            provider.logoutToken(sid.merging(["aud": "somebody else"]) { $1 }),
            provider.logoutToken(["sub": .null]), provider.idToken(), "x",
            provider.logoutToken(sid.merging(["jti": .null]) { $1 }),
            provider.logoutToken(sid.merging(["exp": .null]) { $1 }),
            provider.logoutToken(sid, by: stranger),
        ] {
            #expect(try await logOut(bad) == .badRequest)
        }
        #expect(try await one.get("/account").status == .ok)
        let good = provider.logoutToken(sid)
        #expect(try await logOut(good) == .ok)
        // Once: else whoever saw it would do it again.
        #expect(try await logOut(good) == .badRequest)
        #expect(try await one.get("/account").status == .seeOther)
        #expect(try await two.get("/account").status == .ok)
        // One of which nobody knows anything.
        #expect(try await logOut(provider.logoutToken(["sid": "s-9"])) == .ok)
        #expect(try await logOut(provider.logoutToken([:])) == .ok)
        #expect(try await two.get("/account").status == .seeOther)
        let everywhere = provider.logoutToken([:])
        let told = try await withThrowingTaskGroup(of: Status.self) { group in
            for _ in 0..<50 { group.addTask { try await logOut(everywhere) } }
            return try await group.reduce(into: [Status]()) { $0.append($1) }
        }
        #expect(told.count { $0 == .ok } == 1)
        #expect(try await world.events().count { $0 == "account.stamp_rotated" } == 2)
    }
}

@Suite struct `Two providers of one realm` {
    @Test func `a provider's answer for another provider of the realm is refused (mix-up)`()
        async throws
    {
        let honest = StandIn()
        let evil = StandIn(
            "https://evil.example", ["authorization_response_iss_parameter_supported": true])
        let calls = UpstreamCalls(
            get: { honest.get($0, $1) ?? evil.get($0, $1) },
            post: { honest.post($0, $1, $2) ?? evil.post($0, $1, $2) })
        let world = try await SignInWorld(
            ["registration": "jit_on_otp"], callProviders: calls)
        for provider in [honest, evil] { provider.clock.withLock { $0 = world.clock } }
        try await world.carryOut(ProviderChange.configure(.standIn()))
        try await world.carryOut(
            ProviderChange.configure(.standIn("evil", "https://evil.example")))
        let browser = PageBrowser(world)
        // He goes to the one, and comes back where the other's answers do.
        try await browser.get("/oidc/start?provider=evil")
        let place = try #require(browser.place)
        let pairs = try evil.answer(place)
        let cookie = browser.cookies["__Host-urd-provider"]
        for (path, more) in [
            ("/oidc/redirect/corporate", []), ("/oidc/redirect/evil", []),
            ("/oidc/redirect/evil", [("iss", StandIn.issuer)]),
        ] as [(String, [Form.Pair])] {
            browser.cookies["__Host-urd-provider"] = cookie
            try await browser.get("\(path)?\(Form.encode(pairs + more))")
            #expect(browser.answer?.status == .badRequest, "\(path) \(more)")
        }
        #expect(evil.asked.withLock { !$0.contains("https://evil.example/token") })
        browser.cookies["__Host-urd-provider"] = cookie
        try await browser.get(
            "/oidc/redirect/evil?\(Form.encode(pairs + [("iss", "https://evil.example")]))")
        #expect(evil.asked.withLock { $0.contains("https://evil.example/token") })
        #expect(browser.answer?.status == .forbidden)
    }

    @Test func `a provider whose metadata name another issuer or unsafe addresses is not called`()
        async throws
    {
        for more: JSONObject in [
            ["issuer": "https://login.example.org/"],
            ["token_endpoint": "http://login.example.org"],
            ["authorization_endpoint": "javascript:alert(1)"], ["jwks_uri": .null],
        ] {
            let provider = StandIn(StandIn.issuer, more)
            let world = try await SignInWorld([:], callProviders: provider.calls)
            try await world.carryOut(ProviderChange.configure(.standIn()))
            let browser = PageBrowser(world)
            try await browser.get("/oidc/start?provider=corporate")
            #expect(browser.answer?.status == .serviceUnavailable, "\(more)")
        }
        let nobody = PageBrowser(try await SignInWorld())
        #expect(try await nobody.get("/oidc/start").status == .notFound)
    }
}
