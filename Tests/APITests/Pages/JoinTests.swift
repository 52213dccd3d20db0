import EventSourcing
import HTTP
import Identity
import JSON
import OneTimeCodes
import Testing
import Values

@testable import API

@Suite struct `Joining on a page` {
    private func register(
        _ browser: PageBrowser, _ fields: [(name: String, value: String)]
    ) async throws {
        try await browser.get("/register?continue=sealed")
        try await browser.submit("/register", browser.returnTarget + fields)
        if browser.place != nil { try await browser.follow() }
    }

    @Test func `joining on a page is possible where the realm allows it`() async throws {
        let off = PageBrowser(try await SignInWorld(["registration": "off"]))
        try await off.get("/register")
        #expect(off.answer?.status == .notFound)
        let browser = PageBrowser(
            try await SignInWorld([
                "registration": "explicit_endpoint", "registration_last_name": "required",
            ]))
        // Signing in makes no account there.
        try await browser.get("/login")
        #expect(browser.shows("/register"))
        try await browser.askForCode()
        #expect(try await !browser.world.events().contains("otp.issued"))
        try await register(browser, [("email", "ann@example.org"), ("first_name", "Ann")])
        #expect(browser.answer?.status == .badRequest && browser.shows("value=\"Ann\""))
        try await register(
            browser,
            [("email", "ann@example.org"), ("first_name", "Ann"), ("last_name", "Lee")])
        try await browser.submit(
            "/login/code",
            browser.returnTarget + [
                ("email", "ann@example.org"), ("code", try await browser.code()),
            ])
        #expect(browser.place == "/connect/authorize?continue=sealed")
        try await browser.get("/account")
        #expect(browser.shows("Hello, Ann"))
    }

    @Test func `joining on a page takes an invite where one is needed`() async throws {
        let world = try await SignInWorld(["registration": "invite_code"])
        let code = try #require(world.mint.inviteCodes(1, of: UUID.random()).first)
        try await world.carryOut(
            CreateInvites(
                invites: [world.mint.invite(code)], app: nil, now: world.clock.next()))
        let browser = PageBrowser(world)
        for wrong in ["", "nonsense"] {
            try await register(browser, [("email", "ann@example.org"), ("invite", wrong)])
            #expect(browser.answer?.status == .badRequest)
        }
        let unknown = try #require(world.mint.inviteCodes(1, of: UUID.random()).first)
        try await register(browser, [("email", "ann@example.org"), ("invite", unknown.text)])
        // What was typed goes with the form for another code.
        let page = browser.pageUnsealed.replacing(unknown.text, with: "typed")
        #expect(page.contains("typed"))
        #expect(try await !world.events().contains("otp.issued"))
        try await register(browser, [("email", "ann@example.org"), ("invite", code.text)])
        #expect(browser.pageUnsealed.replacing(code.text, with: "typed") == page)
        try await browser.submit(
            "/login/code", [("email", "ann@example.org"), ("code", try await browser.code())])
        #expect(browser.place == "/account")
    }

    @Test func `joining on a page shows each fault at its field and keeps what was typed`()
        async throws
    {
        let browser = PageBrowser(
            try await SignInWorld([
                "registration": "invite_code", "registration_first_name": "required",
            ]))
        func input(_ name: String) throws -> String {
            let inputs = browser.page.matches(of: #/<input id="[^>]*>/#).map { String($0.0) }
            return try #require(inputs.first { $0.contains("id=\"\(name)\"") })
        }
        func expectWrong(_ name: String, _ words: String, value: String?) throws {
            let input = try input(name)
            #expect(input.contains("aria-invalid=\"true\" aria-describedby=\"\(name)-wrong"))
            #expect(
                browser.shows("id=\"\(name)-wrong\" role=\"alert\">\(words)"), "\(browser.page)")
            #expect(value.map { input.contains("value=\"\($0)\"") } ?? !input.contains("value="))
        }
        try await register(
            browser,
            [
                ("email", "anna@localhost"), ("first_name", "  "), ("last_name", "Lee\u{202E}x"),
                ("invite", "nonsense"),
            ])
        #expect(browser.answer?.status == .badRequest)
        try expectWrong("email", "Enter a complete e-mail address", value: "anna@localhost")
        try expectWrong("first_name", "Enter your first name.", value: nil)
        try expectWrong("last_name", "Use at most 100 characters", value: "Lee\u{FFFD}x")
        try expectWrong("invite", "That invite code is wrong.", value: "nonsense")
        #expect(try input("email").contains(" autofocus"))
        try await register(
            browser, [("email", "ann@example.org"), ("first_name", "Ann"), ("invite", "")])
        #expect(try !input("email").contains("aria-invalid"))
        try expectWrong("invite", "Enter your invite code.", value: nil)
        #expect(try input("invite").contains(" autofocus") && !input("email").contains("autofocus"))
        browser.headers["Accept-Language"] = "de"
        try await register(browser, [("email", "ann@example.org"), ("first_name", "")])
        #expect(browser.shows("Geben Sie Ihren Vornamen ein."))
        #expect(try await !browser.world.events().contains("otp.issued"))
    }

    @Test func `joining on a page escapes what it echoes (XSS)`() async throws {
        let marker = #""'><script>alert(1)</script>"#
        let browser = PageBrowser(try await SignInWorld(["registration": "invite_code"]))
        try await register(
            browser,
            [
                ("email", marker), ("first_name", marker), ("last_name", marker),
                ("invite", marker),
            ])
        #expect(browser.answer?.status == .badRequest)
        #expect(!browser.shows("<script>alert") && browser.shows("&lt;script&gt;"))
    }
}

/// An application's request, as a test would have it.
private struct Asking: ApplicationRequests {
    func pending(_ sealed: String, in context: RealmContext) -> PendingRequest? { nil }

    func request(
        _ sealed: String, for browser: SignedInBrowser?, _ call: Call<RealmContext>
    ) async throws(Problem) -> ApplicationRequest? {
        guard sealed == "good" else { return nil }
        return ApplicationRequest(
            clientName: "<b>Shop</b>", site: "https://shop.example", leadsTo: "<i>place</i>",
            policy: "javascript:alert(1)", terms: nil,
            asks: Agreement(
                scope: ["openid", "email", "<i>jobs</i>"],
                resources: ["https://bank.example", "https://a.example/<i>b</i>"]),
            remembered: Agreement(scope: ["openid"]), hint: "ann@example.org")
    }

    func decide(
        _ sealed: String, allows: Bool, as browser: SignedInBrowser, _ call: Call<RealmContext>
    ) async throws(Problem) -> Response {
        .seeOther("https://shop.example/back?allowed=\(allows)")
    }
}

@Suite struct `Consenting on a page` {
    private func asked(_ act: (PageBrowser) async throws -> Void) async throws {
        try await act(PageBrowser(try await SignInWorld(applicationRequests: Asking())))
    }

    @Test func `consenting on a page needs a sign-in and shows the client and its scopes`()
        async throws
    {
        try await asked { browser in
            try await browser.get("/consent?continue=good")
            #expect(browser.place == "/login?continue=good")
            try await browser.follow()
            #expect(browser.shows("&lt;b&gt;Shop") && browser.shows("value=\"ann@example.org\""))
            try await browser.signIn(from: "/login?continue=good")
            try await browser.get("/consent?continue=good")
            #expect(browser.shows("see your e-mail address") && browser.shows("allowed before"))
            #expect(browser.shows("&lt;i&gt;jobs") && !browser.shows("<i>jobs"))
            #expect(browser.shows("&lt;i&gt;place") && !browser.shows("<i>place"))
            #expect(browser.shows("The access would be good at"))
            #expect(browser.shows(">https://bank.example</code>"))
            #expect(browser.shows("a.example/&lt;i&gt;b") && !browser.shows("<i>b"))
            let policy = browser.answer?.response.headers["Content-Security-Policy"] ?? ""
            // Browsers hold it against where the answer leads on to.
            #expect(!policy.contains("form-action"))
            try await browser.submit(
                "/consent", [("continue", "good"), ("decision", "allow")])
            #expect(browser.place == "https://shop.example/back?allowed=true")
            try await browser.get("/consent?continue=good")
            try await browser.submit("/consent", [("continue", "good"), ("decision", "deny")])
            #expect(browser.place == "https://shop.example/back?allowed=false")
        }
    }

    @Test func `consenting on a page needs the page's own form and an open request`() async throws {
        try await asked { browser in
            try await browser.signIn()
            try await browser.get("/consent?continue=good")
            let fields = [(name: "continue", value: "good"), (name: "decision", value: "allow")]
            try await browser.submit("/consent", fields, token: "forged")
            #expect(browser.answer?.status == .forbidden)
            try await browser.get("/consent?continue=good")
            try await browser.submit("/consent", [("continue", "good"), ("decision", "maybe")])
            #expect(browser.place == "/consent?continue=good")
            for place in ["/consent?continue=bad", "/consent"] {
                try await browser.get(place)
                #expect(browser.answer?.status == .badRequest)
            }
        }
    }
}
