import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Two pages of one browser, which has its cookies in common.
@Suite struct `Two tabs with a login` {
    private let strong = "urn:modgud:acr:multi"

    private func browser(_ more: JSONObject = ["consent": "none"]) async throws -> PageBrowser {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let client: JSONObject = [
            "grant_types": ["authorization_code", "refresh_token"],
            "redirect_uris": [.string(AuthorizeWorld.back)], "client_name": "Northwind",
            "token_endpoint_auth_method": "client_secret_post",
        ]
        try await world.register("web", client.merging(more) { $1 }, secret: SignInWorld.secret)
        return PageBrowser(world)
    }

    /// Where the application's request leads to, and the page that is there.
    private func open(_ browser: PageBrowser, _ more: Pairs = []) async throws -> String {
        try await browser.get(
            "/connect/authorize?\(Form.encode(AuthorizeWorld.request(more)))")
        let place = try #require(browser.place)
        try await browser.follow()
        return place
    }

    private func expectBack(_ browser: PageBrowser) async throws {
        #expect(browser.place?.hasPrefix("/connect/authorize?continue=") == true)
        try await browser.follow()
        #expect(browser.place?.hasPrefix(AuthorizeWorld.back) == true)
        #expect(browser.place?.contains("code=") == true)
    }

    @Test func `two login tabs both continue after a sign-in in one of them`() async throws {
        let browser = try await browser()
        let second = try await open(browser)
        let (token, returnTarget) = (try #require(browser.token), browser.returnTarget)
        try await browser.signIn(from: try await open(browser))
        // The form of the other one was made for somebody who was not signed in.
        let fields = returnTarget + [(name: "email", value: "ann@example.org")]
        try await browser.submit(second, fields, token: token, ["Sec-Fetch-Site": "same-origin"])
        #expect(browser.answer?.status == .forbidden)
        #expect(browser.shows(#"href="\#(second)""#) && browser.shows(">Continue<"))
        try await browser.get(second)
        try await expectBack(browser)
    }

    /// Enter pressed twice: the first form signed in, the second is of nobody who is signed in.
    @Test func `a login form sent twice signs in once and continues twice`() async throws {
        let browser = try await browser()
        let place = try await open(browser, [("prompt", "login")])
        try await browser.askForCode()
        let fields =
            browser.returnTarget + [
                ("email", "ann@example.org"), ("code", try await browser.code()),
            ]
        let (token, stranger) = (try #require(browser.token), ("email", "eve@example.org"))
        try await browser.submit("/login/code", fields, token: token)
        let opened = try await browser.world.events()
        try await browser.submit("/login/code", fields, token: token)
        try await expectBack(browser)
        #expect(try await browser.world.events() == opened)
        // Not as somebody else, from elsewhere, later, or by a form that signs nobody in.
        for (path, wrong, headers) in [
            ("/login/code", browser.returnTarget + [stranger], [:] as Headers),
            ("/login/code", fields, ["Sec-Fetch-Site": "cross-site"] as Headers),
            (place, fields, [:] as Headers),
        ] as [(String, Pairs, Headers)] {
            try await browser.submit(path, wrong, token: token, headers)
            #expect(browser.answer?.status == .forbidden)
        }
        browser.world.clock.advance(seconds: 60)
        try await browser.submit("/login/code", fields, token: token)
        #expect(browser.answer?.status == .forbidden)
    }

    @Test func `a login form offers a way on to forms of this site alone`()
        async throws
    {
        let browser = try await browser()
        let place = try await open(browser)
        let returnTarget = browser.returnTarget
        for headers in [["Sec-Fetch-Site": "cross-site"], ["Origin": "https://evil.example"]]
            as [Headers]
        {
            try await browser.submit(place, returnTarget, token: "forged", headers)
            #expect(browser.answer?.status == .forbidden && !browser.shows(">Continue<"))
        }
        for made in [("continue", "made-up"), ("next", "https://evil.example")] {
            try await browser.submit("/login", [made], token: "forged")
            #expect(browser.answer?.status == .forbidden && !browser.shows(">Continue<"))
        }
    }

    @Test(
        arguments: [
            [("prompt", "login")], [("prompt", "select_account")], [("max_age", "0")],
            [("acr_values", "urn:modgud:acr:multi")],
        ] as [Pairs])
    func `two login tabs do not continue a request that needs a new login`(more: Pairs) async throws
    {
        let browser = try await browser()
        let second = try await open(browser, more)
        try await browser.signIn()
        for place in [second, try await open(browser, more)] {
            try await browser.get(place)
            let asksWho = more[0] == ("prompt", "select_account")
            #expect(browser.answer?.status == .ok)
            #expect(browser.shows(asksWho ? "You are signed in as" : "confirm that it is you"))
            #expect(browser.shows("<strong>ann@example.org</strong>"))
            // Who is to choose chooses, and nobody else types what is known (WCAG 2.2, 3.3.7).
            #expect(browser.shows(#"value="ann@example.org""#) == !asksWho)
            try await browser.get(place.replacing("/login?", with: "/login/code?"))
            #expect(browser.place == place)
        }
    }

    @Test func `two login tabs do not continue a request whose max_age has passed`() async throws {
        let browser = try await browser()
        try await browser.signIn()
        browser.world.clock.advance(seconds: 100)
        let place = try await open(browser, [("max_age", "50")])
        #expect(browser.answer?.status == .ok && browser.shows("confirm that it is you"))
        try await browser.signIn(from: place)
        try await browser.get(place)
        try await expectBack(browser)
    }

    @Test func `a second login tab can sign in another person`() async throws {
        let browser = try await browser(["consent": "needed"])
        try await browser.signIn()
        let consent = try await open(browser)
        #expect(consent.hasPrefix("/consent?"))
        let login = consent.replacing("/consent?", with: "/login?") + "&other=1"
        #expect(browser.shows(#"href="\#(login.replacing("&", with: "&amp;"))""#))
        try await browser.signIn("ben@example.org", from: login)
        try await browser.follow()
        try await browser.follow()
        #expect(browser.shows("ben@example.org") && !browser.shows("ann@example.org"))
    }
}
