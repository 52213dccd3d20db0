import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Ann is signed in with a browser, and then somebody signs in with the same.
@Suite struct `Another person's sign-in with one browser` {
    private static let anew: Pairs = [("prompt", "login")]

    private func browser(_ settings: JSONObject = [:]) async throws -> PageBrowser {
        let usual: JSONObject = ["registration": "jit_on_otp", "otp_resend_delay": 0]
        let world = try await SignInWorld(usual.merging(settings) { $1 })
        try await world.register(
            "web",
            [
                "grant_types": ["authorization_code", "refresh_token"], "consent": "none",
                "redirect_uris": [.string(AuthorizeWorld.back)],
                "token_endpoint_auth_method": "client_secret_post",
                "backchannel_logout_uri": "https://web.example/out",
            ], secret: SignInWorld.secret)
        return PageBrowser(world)
    }

    /// A code for whoever is signed in, or signs in for it.
    private func code(
        _ browser: PageBrowser, for email: String, scope: String = "openid", _ more: Pairs = []
    ) async throws -> String {
        let request = AuthorizeWorld.request([("scope", scope)] + more)
        try await browser.get("/connect/authorize?\(Form.encode(request))")
        if let place = browser.place, place.hasPrefix("/login") {
            try await browser.signIn(email, from: place)
            try await browser.follow()
        }
        let place = try #require(browser.place)
        let query = place.split(separator: "?").last.map(String.init) ?? ""
        let pairs = try #require(Form.parse(Array(query.utf8)))
        return try #require(pairs.first { $0.name == "code" }?.value, "\(place)")
    }

    private func redeem(_ browser: PageBrowser, _ code: String) async throws -> Answered {
        try await browser.world.post(
            "/connect/token",
            form: [
                ("grant_type", "authorization_code"), ("code", code), ("client_id", "web"),
                ("client_secret", SignInWorld.secret), ("redirect_uri", AuthorizeWorld.back),
                ("code_verifier", AuthorizeWorld.verifier),
            ])
    }

    private func token(
        _ browser: PageBrowser, for email: String, scope: String = "openid", _ more: Pairs = []
    ) async throws -> String {
        let code = try await code(browser, for: email, scope: scope, more)
        return try #require(try await redeem(browser, code).json["access_token"]?.string)
    }

    private func isAlive(_ browser: PageBrowser, _ token: String) async throws -> Bool {
        try await browser.world.introspect(token)["active"] == true
    }

    /// Of how many sessions their client is to be told that they are over.
    private func notices(_ browser: PageBrowser) async throws -> Int {
        let world = browser.world
        return try await world.log.events(from: 1, limit: .max, in: world.realm)
            .filter { $0.name == "session.ended" && $0.open["notice"] != nil }.count
    }

    @Test(arguments: [false, true])
    func `a sign-in by another person ends the earlier sessions, and clients are notified`(
        endsAll: Bool
    ) async throws {
        let browser = try await browser(["logout_ends_offline_access": .bool(endsAll)])
        let first = try await token(browser, for: "ann@example.org")
        let away = try await token(
            browser, for: "ann@example.org", scope: "openid offline_access")
        let early = try await code(browser, for: "ann@example.org")
        browser.world.clock.advance(seconds: 5)
        // She signs in once more: what came of either of her sign-ins ends with the last one.
        let second = try await token(browser, for: "ann@example.org", Self.anew)
        #expect(try await isAlive(browser, first))
        let underWay = try await code(browser, for: "ann@example.org")
        browser.world.clock.advance(seconds: 5)
        let bobs = try await token(browser, for: "bob@example.org", Self.anew)
        #expect(try await !isAlive(browser, first))
        #expect(try await !isAlive(browser, second))
        #expect(try await isAlive(browser, away) != endsAll)
        #expect(try await isAlive(browser, bobs))
        #expect(try await notices(browser) == (endsAll ? 3 : 2))
        // A code of either of her sessions in this browser.
        for given in [early, underWay] {
            #expect(try await redeem(browser, given).json["error"] == "invalid_grant")
        }
    }

    /// Bob is at the last step: his code is typed.
    private func bobsCode(_ browser: PageBrowser) async throws -> Pairs {
        let request = AuthorizeWorld.request([("scope", "openid")] + Self.anew)
        try await browser.get("/connect/authorize?\(Form.encode(request))")
        try await browser.get(try #require(browser.place))
        try await browser.askForCode("bob@example.org")
        let code = try await browser.code()
        return browser.returnTarget + [("email", "bob@example.org"), ("code", code)]
    }

    private func crowded(_ count: Int) async throws -> (PageBrowser, [String]) {
        let browser = try await browser([
            "rate_limits": ["oauth-token": ["client": .null, "source": .null, "target": .null]]
        ])
        var tokens: [String] = []
        for _ in 0..<count {
            tokens.append(try await token(browser, for: "ann@example.org"))
        }
        browser.world.clock.advance(seconds: 5)
        return (browser, tokens)
    }

    @Test func `a sign-in by another person ends three hundred sessions in one append`()
        async throws
    {
        let (browser, tokens) = try await crowded(300)
        let form = try await bobsCode(browser)
        let before = browser.world.log.revision
        // One read fails behind the append, and is made again.
        browser.world.log.failReads(1)
        try await browser.submit("/login/code", form)
        #expect(browser.answer?.status == .seeOther, "\(browser.page)")
        #expect(browser.world.log.revision == before + 1)
        for token in tokens { #expect(try await !isAlive(browser, token)) }
        #expect(try await notices(browser) == 300)
    }

    @Test func `a sign-in by another person that cannot end all of it is not said to be done`()
        async throws
    {
        let (browser, _) = try await crowded(1)
        let form = try await bobsCode(browser)
        browser.world.log.failReads(1, with: .damaged)
        try await browser.submit("/login/code", form)
        #expect(browser.answer.map { $0.status.code >= 500 } == true, "\(browser.page)")
    }

    @Test func `a sign-in by the same person keeps the browser's sessions`() async throws {
        let browser = try await browser()
        let token = try await token(browser, for: "ann@example.org")
        let underWay = try await code(browser, for: "ann@example.org")
        browser.world.clock.advance(seconds: 5)
        _ = try await code(browser, for: "ann@example.org", Self.anew)
        #expect(try await isAlive(browser, token))
        #expect(try await notices(browser) == 0)
        #expect(try await redeem(browser, underWay).status == .ok)
    }

    @Test func `a sign-in by the same person keeps the sessions of their other browsers`()
        async throws
    {
        let browser = try await browser()
        let other = PageBrowser(browser.world)
        let elsewhere = try await token(other, for: "ann@example.org")
        let here = try await token(browser, for: "ann@example.org")
        browser.world.clock.advance(seconds: 5)
        _ = try await token(browser, for: "bob@example.org", Self.anew)
        #expect(try await !isAlive(browser, here))
        #expect(try await isAlive(browser, elsewhere))
    }
}
