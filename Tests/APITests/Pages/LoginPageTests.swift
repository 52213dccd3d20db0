import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Signing in on a page` {
    @Test func `signing in on a page mails a code to the address and takes it`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn()
        #expect(browser.place == "/account")
        #expect(browser.cookies["__Host-urd"] != nil)
        #expect(
            try await browser.world.events().suffix(4) == [
                "otp.redeemed", "account.registered", "mailbox.assigned", "browser.opened",
            ])
        // Whoever is signed in needs no page for it.
        try await browser.get("/login")
        #expect(browser.place == "/account")
    }

    @Test func `signing in on a page returns to the client's request`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn(from: "/login?continue=abc-._~XYZ")
        #expect(browser.place == "/connect/authorize?continue=abc-._~XYZ")
        // Also who is signed in may be asked once more.
        try await browser.get("/login?continue=abc")
        #expect(browser.answer?.status == .ok)
    }

    @Test func `signing in on a page answers the same for known and unknown addresses`()
        async throws
    {
        let world = try await SignInWorld(["registration": "off"])
        let browser = PageBrowser(world)
        try await browser.get("/login")
        try await browser.askForCode("nobody@example.org")
        let unknown = browser.pageUnsealed.replacing("nobody@", with: "ann@")
        try await world.carryOut(
            RegisterAccount(
                account: UUID.random(),
                addresses: Addresses(mailbox: world.mint.mailbox("ann@example.org")),
                person: Person(email: "ann@example.org"), isConfirmed: true))
        try await browser.askForCode("ann@example.org")
        #expect(browser.pageUnsealed == unknown)
        #expect(try await world.events().contains("otp.issued"))
    }

    @Test func `signing in on a page shows a fault beside its field`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.get("/login")
        try await browser.submit("/login", [("email", "no address"), ("by", "email_code")])
        #expect(browser.answer?.status == .badRequest)
        #expect(browser.shows("aria-invalid") && browser.shows("value=\"no address\""))
        try await browser.askForCode()
        try await browser.submit(
            "/login/code", [("email", "ann@example.org"), ("code", "000 00")])
        #expect(browser.answer?.status == .badRequest)
        #expect(browser.shows("That code is wrong"))
        #expect(browser.cookies["__Host-urd"] == nil)
        #expect(try await browser.world.events().last == "browser.refused")
    }

    @Test func `signing in on a page speaks the reader's language, else the realm's`() async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "language": "de"])
        let browser = PageBrowser(world)
        try await browser.get("/login")
        #expect(browser.shows("<html lang=\"de\">") && browser.shows("Anmelden"))
        browser.headers["Accept-Language"] = "en-GB,de;q=0.5"
        try await browser.get("/login")
        #expect(browser.shows("<html lang=\"en\">") && browser.shows("Sign in"))
        browser.headers["Accept-Language"] = "de"
        try await browser.get("/nothing/here")
        try await browser.submit("/login", token: "made up")
        #expect(browser.shows("Diese Seite ist abgelaufen"))
    }

    @Test func `signing in on a page offers only the methods that are on`() async throws {
        let world = try await SignInWorld([
            "registration": "off", "login_code": false, "login_link": true,
        ])
        let browser = PageBrowser(world)
        try await browser.get("/login")
        #expect(browser.shows("email_link") && !browser.shows("email_code"))
        // No domain, no passkeys.
        #expect(!browser.shows("passkey-button") && !browser.shows("<script"))
        #expect(!browser.shows("/register"))
        try await browser.submit(
            "/login", [("email", "ann@example.org"), ("by", "email_code")])
        #expect(browser.answer?.status == .notFound)
        try await browser.get("/login")
        try await browser.submit(
            "/login/code", [("email", "ann@example.org"), ("code", "000000")])
        #expect(browser.answer?.status == .badRequest)
        #expect(try await !world.events().contains("otp.issued"))
    }

    @Test func `signing in on a page works without native grants`() async throws {
        let world = try await SignInWorld()
        world.directory.change(world.realm) { _ in }
        try await world.carryOut(RealmChange.setSettings(["native_grants": false]))
        try await PageBrowser(world).signIn()
    }

    @Test func `signing in on a page ignores the cookie of a session that was signed out`()
        async throws
    {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn()
        let kept = browser.cookies
        try await browser.get("/logout")
        try await browser.submit("/logout")
        #expect(browser.place == "/logged-out")
        #expect(browser.cookies.isEmpty)
        try await browser.follow()
        #expect(browser.shows("You are signed out"))
        browser.cookies = kept
        try await browser.get("/logout")
        #expect(browser.place == "/logged-out")
    }

    @Test func `signing out on a page speaks the language that the client asked for`() async throws
    {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn()
        try await browser.get("/connect/logout?ui_locales=de")
        try await browser.follow()
        #expect(browser.shows("Abmelden?"))
        #expect(browser.shows(#"action="/logout?ui_locales=de""#))
        try await browser.submit("/logout?ui_locales=de")
        try await browser.follow()
        #expect(browser.shows("Sie sind abgemeldet"))
        try await browser.get("/logout?ui_locales=de")
        #expect(browser.place == "/logged-out?ui_locales=de")
    }

    @Test func `signing in on a page asks for the second factor where there is one`() async throws {
        let world = try await SignInWorld()
        let (app, recovery) = try await world.enroll(try await world.token())
        let browser = PageBrowser(world)
        func first() async throws {
            world.clock.advance(seconds: 200)
            try await browser.get("/login")
            try await browser.askForCode()
            try await browser.submit(
                "/login/code", [("email", "ann@example.org"), ("code", try await browser.code())])
            #expect(browser.shows("name=\"totp\""), "\(browser.page)")
            #expect(browser.cookies["__Host-urd"] == nil)
        }
        func second(_ code: String) async throws {
            try await browser.submit(
                "/login/code",
                [
                    ("email", "ann@example.org"), ("code", try #require(browser.value(of: "code"))),
                    ("totp", code),
                ])
        }
        try await first()
        try await second("000000")
        #expect(browser.answer?.status == .badRequest && browser.shows("name=\"totp\""))
        try await second(try app.code(at: world.clock))
        #expect(browser.answer?.status == .seeOther, "\(browser.page)")
        let opened = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .last { $0.name == "browser.opened" }
        #expect(opened?.open["amr"] == ["otp", "mfa"])
        browser.cookies = [:]
        try await first()
        try await second(recovery[0].lowercased())
        #expect(browser.place == "/account")
    }

    @Test func `signing in on a page is rate-limited`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.get("/login")
        let token = try #require(browser.token)
        for _ in 0..<5 {
            try await browser.submit(
                "/login", [("email", "ann@example.org"), ("by", "email_code")], token: token)
            #expect(browser.answer?.status == .seeOther)
        }
        try await browser.submit(
            "/login", [("email", "ann@example.org"), ("by", "email_code")], token: token)
        #expect(browser.answer?.status == .tooManyRequests)
        #expect(browser.shows("Too many attempts"))
        #expect(browser.answer?.response.headers["Retry-After"] != nil)
    }

    @Test
    func `a code that a person has is typed where strangers asked for as many as there are`()
        async throws
    {
        for place in ["/login", "/register"] {
            let world = try await SignInWorld(["registration": "jit_on_otp"])
            let ann = PageBrowser(world)
            ann.source = "198.51.100.1"
            try await ann.get(place)
            try await ann.submit(place, [("email", "ann@example.org"), ("by", "email_code")])
            let code = try await ann.code()
            for turn in 0..<6 {
                let stranger = PageBrowser(world)
                stranger.source = network(turn * 300)
                try await stranger.get(place)
                world.clock.advance(seconds: 20)
                try await stranger.submit(
                    place, [("email", "ann@example.org"), ("by", "email_code")])
            }
            let late = PageBrowser(world)
            late.source = "198.51.100.1"
            try await late.get(place)
            try await late.submit(place, [("email", "ann@example.org"), ("by", "email_code")])
            #expect(late.answer?.status == .tooManyRequests)
            #expect(late.shows("Please wait") && late.shows("name=\"code\""))
            // The mail of a stranger's request has the code that she has.
            #expect(try await late.code() == code)
            let action = try #require(
                late.page.firstMatch(of: #/action="(\/login\/code\?[^"]*to=[^"]*)"/#))
            try await late.submit(
                String(action.1).replacing("&amp;", with: "&"),
                [("email", "ann@example.org"), ("code", code)])
            #expect(late.cookies["__Host-urd"] != nil, "\(place)")
        }
    }

    @Test func `garbage from other networks leaves a person all the attempts of their own`()
        async throws
    {
        let world = try await SignInWorld()
        let ann = PageBrowser(world)
        ann.source = "198.51.100.1"
        let stranger = PageBrowser(world)
        try await stranger.get("/login")
        let token = try #require(stranger.token)
        for _ in 0..<16 {
            // None was sent: these are no guesses.
            try await stranger.submit(
                "/login/code", [("email", "ann@example.org"), ("code", "000000")], token: token)
        }
        #expect(stranger.answer?.status == .tooManyRequests)
        try await ann.signIn()
        #expect(ann.cookies["__Host-urd"] != nil)
    }

    @Test func `a session from a page ends with the account's other sessions`() async throws {
        let world = try await SignInWorld()
        let browser = PageBrowser(world)
        try await browser.signIn()
        let account = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "account.registered" }?.stream)
        try await world.carryOut(RotateSecurityStamp(account: account))
        try await browser.get("/logout")
        #expect(browser.place == "/logged-out")
    }

    @Test func `a session from a page expires`() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "browser_session_lifetime": 300,
        ])
        let browser = PageBrowser(world)
        try await browser.signIn()
        world.clock.advance(seconds: 301)
        try await browser.get("/logout")
        #expect(browser.place == "/logged-out")
    }

    @Test func `signing in on a page with one code fifty times at once succeeds once`() async throws
    {
        let world = try await SignInWorld(
            (["registration": "jit_on_otp"] as JSONObject).merging(PageBrowser.unlimited) { $1 })
        let browser = PageBrowser(world)
        try await browser.get("/login")
        try await browser.askForCode()
        let answers = await browser.together(
            50, "/login/code",
            [("email", "ann@example.org"), ("code", try await browser.code())])
        #expect(answers.filter { $0 == .seeOther }.count == 1)
        #expect(try await world.events().filter { $0 == "browser.opened" }.count == 1)
    }
}
