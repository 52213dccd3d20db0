import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The page for a mailed code` {
    private func asked(
        _ settings: JSONObject = [:], from place: String = "/login?next=%2Faccount%2Fsecurity"
    ) async throws -> PageBrowser {
        let browser = PageBrowser(
            try await SignInWorld(
                (["registration": "jit_on_otp"] as JSONObject).merging(settings) { $1 }))
        try await browser.get(place)
        try await browser.submit(
            "/login", browser.returnTarget + [("email", "ann@example.org"), ("by", "email_code")])
        return browser
    }

    private func mailed(_ browser: PageBrowser) async throws -> Int {
        try await browser.world.events().filter { $0 == "otp.issued" }.count
    }

    @Test func `the mailed code's page can be opened again, which mails nothing`() async throws {
        let browser = try await asked()
        let place = try #require(browser.place)
        #expect(place.hasPrefix("/login/code?next=%2Faccount%2Fsecurity&to="))
        #expect(!place.contains("ann@") && !place.contains("ann%40") && !place.contains("example"))
        for _ in 0..<3 {
            try await browser.get(place)
            #expect(browser.answer?.status == .ok && browser.shows("ann@example.org"))
        }
        #expect(try await mailed(browser) == 1)
        try await browser.submit(
            "/login/code",
            browser.returnTarget + [
                ("email", "ann@example.org"), ("code", try await browser.code()),
            ])
        #expect(browser.place == "/account/security")
    }

    @Test func `the mailed code's page keeps the authorization request in each form's address`()
        async throws
    {
        let browser = try await asked(from: "/login?continue=sealed")
        let place = try #require(browser.place)
        try await browser.get(place)
        func expectBoth() {
            #expect(browser.shows(#"action="/login/code?continue=sealed&amp;to="#))
            #expect(browser.shows(#"action="/login?continue=sealed""#))
        }
        expectBoth()
        try await browser.submit(place, [("email", "ann@example.org"), ("code", "000000")])
        #expect(browser.answer?.status == .badRequest && browser.shows("That code is wrong"))
        expectBoth()
        try await browser.submit(
            place, [("email", "ann@example.org"), ("code", try await browser.code())])
        #expect(browser.place == "/connect/authorize?continue=sealed")
    }

    @Test func `the mailed code's page leads another browser, or an expired one, to the login`()
        async throws
    {
        let browser = try await asked(from: "/login?continue=sealed")
        let place = try #require(browser.place)
        let stranger = PageBrowser(browser.world)
        for place in [place, place + "A", "/login/code?continue=sealed"] {
            try await stranger.get(place)
            #expect(stranger.place == "/login?continue=sealed", "\(place)")
            try await stranger.get("/login")
        }
        try await stranger.get("/login/code")
        #expect(stranger.place == "/login")
        browser.world.clock.advance(seconds: 3601)
        try await browser.get(place)
        #expect(browser.place == "/login?continue=sealed")
    }

    @Test func `the mailed code's page and mail speak the language that the client asked for`()
        async throws
    {
        let browser = PageBrowser(
            try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0]))
        let world = browser.world
        try await world.register(
            "web",
            [
                "grant_types": ["authorization_code"],
                "redirect_uris": [.string(AuthorizeWorld.back)],
            ], secret: SignInWorld.secret)
        for (asked, accepted, language) in [
            ("de", "en", "de"), ("fr en", "de", "en"), ("fr", "de", "de"),
        ] {
            browser.headers["Accept-Language"] = accepted
            try await browser.get(
                "/connect/authorize?"
                    + Form.encode(AuthorizeWorld.request([("ui_locales", asked)])))
            try await browser.follow()
            #expect(browser.shows("<html lang=\"\(language)\""))
            try await browser.askForCode()
            #expect(browser.shows("<html lang=\"\(language)\""))
            #expect(try await world.lastLetter(for: "otp.issued").language == language)
            // So does what says that it cannot go on.
            try await browser.get(
                "/connect/authorize?"
                    + Form.encode([("client_id", "none"), ("ui_locales", asked)]))
            #expect(browser.answer?.status == .badRequest)
            #expect(browser.shows("<html lang=\"\(language)\""))
        }
    }

    @Test
    func `the mailed code's page says when another code can be had, the same for every address`()
        async throws
    {
        let browser = try await asked(["registration": "off"], from: "/login")
        let world = browser.world
        try await world.carryOut(
            RegisterAccount(
                account: UUID.random(),
                addresses: Addresses(mailbox: world.mint.mailbox("bea@example.org")),
                person: Person(email: "bea@example.org"), isConfirmed: true))
        func again(_ email: String, _ language: String = "en") async throws -> String {
            browser.headers["Accept-Language"] = language
            try await browser.submit(
                "/login",
                [
                    ("email", email), ("to", try #require(browser.value(of: "to"))),
                    ("by", "email_code"),
                ])
            try await browser.follow()
            return browser.pageUnsealed.replacing(email, with: "ann@example.org")
        }
        var pages: [String] = []
        for email in ["nobody@example.org", "bea@example.org"] {
            try await browser.get("/login")
            try await browser.askForCode(email)
            #expect(!browser.shows("a moment ago"))
            world.clock.advance(seconds: 60)
            pages.append(try await again(email))
        }
        #expect(pages.first == pages.last)
        #expect(browser.shows("role=\"status\"") && browser.shows("for another in 61 seconds."))
        #expect(try await mailed(browser) == 1)
        _ = try await again("bea@example.org", "de")
        #expect(browser.shows("können Sie in 61 Sekunden einen neuen anfordern"))
        // What was asked for elsewhere, or for another address, is asked for.
        try await browser.submit(
            "/login",
            [
                ("email", "nobody@example.org"), ("to", try #require(browser.value(of: "to"))),
                ("by", "email_code"),
            ])
        try await browser.follow()
        #expect(!browser.shows("gerade schon") && browser.shows("nobody@example.org"))
        world.clock.advance(seconds: 62)
        try await browser.get("/login")
        try await browser.askForCode("bea@example.org")
        world.clock.advance(seconds: 122)
        _ = try await again("bea@example.org")
        #expect(!browser.shows("a moment ago"))
        #expect(try await mailed(browser) == 3)
    }

    @Test func `the mailed code's page is over once the person is signed in`() async throws {
        let browser = try await asked(from: "/login")
        let place = try #require(browser.place)
        try await browser.follow()
        try await browser.submit(
            "/login/code", [("email", "ann@example.org"), ("code", try await browser.code())])
        try await browser.get(place)
        #expect(browser.place == "/account")
    }
}
