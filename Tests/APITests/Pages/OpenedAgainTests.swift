import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Reopened pages` {
    private func signedIn() async throws -> (PageBrowser, SignInWorld) {
        let world = try await SignInWorld(
            (["registration": "jit_on_otp"] as JSONObject).merging(PageBrowser.unlimited) { $1 })
        let browser = PageBrowser(world)
        try await browser.signIn()
        return (browser, world)
    }

    @Test func `a reopened page shows new recovery codes again for a while, in one browser`()
        async throws
    {
        let (browser, world) = try await signedIn()
        try await browser.get("/account/security")
        try await browser.submit("/account/authenticator/begin")
        try await browser.follow()
        let secret = try #require(browser.page.firstMatch(of: /<code[^>]*>([A-Z2-7 ]+)<\/code>/))
        let app = Authenticator(secret: String(secret.1.filter { $0 != " " }))
        let (token, code) = (browser.token, try app.code(at: world.clock))
        func confirm() async throws {
            try await browser.submit(
                "/account/authenticator/confirm", [("code", code)], token: token)
        }
        try await confirm()
        let place = try #require(browser.place)
        for _ in 0..<2 {
            try await browser.get(place)
            #expect(browser.page.matches(of: /<li>[0-9A-Z]{4}-[0-9A-Z-]{9}<\/li>/).count == 10)
        }
        // The same form once more tells that it is done, and so does whatever comes too late.
        func expectOver(_ browser: PageBrowser) {
            #expect(browser.shows("Your authenti\u{AD}cator app is on"))
            #expect(browser.shows("create new ones under Security"))
            #expect(!browser.page.contains(/<li>[0-9A-Z]{4}-/))
        }
        try await confirm()
        #expect(browser.place == "/account/authenticator/codes")
        try await browser.follow()
        expectOver(browser)
        let other = PageBrowser(world)
        other.cookies = browser.cookies
        other.cookies["__Host-urd"] = nil
        try await other.get(place)
        #expect(other.place?.hasPrefix("/login?next=") == true)
        let stranger = PageBrowser(world)
        try await stranger.signIn("eve@example.org")
        try await stranger.get(place)
        #expect(stranger.place == "/account/security")
        world.clock.advance(seconds: 600)
        try await browser.get(place)
        expectOver(browser)
    }

    @Test func `a reopened code page for a new address mails nothing`()
        async throws
    {
        let (browser, world) = try await signedIn()
        world.clock.advance(seconds: 200)
        try await browser.get("/account/data")
        try await browser.submit("/account/email", [("email", "anna@example.org")])
        let place = try #require(browser.place)
        #expect(
            place.hasPrefix("/account/email/confirm?to=") && !place.contains("anna@")
                && !place.contains("anna%40"))
        let mailed = try await world.events()
        for _ in 0..<3 {
            try await browser.get(place)
            #expect(browser.answer?.status == .ok && browser.shows("anna@example.org"))
        }
        #expect(try await world.events() == mailed)
        // What is wrong is said at an address that can be opened again as well.
        try await browser.submit(place, [("email", "anna@example.org"), ("code", "000000")])
        #expect(
            browser.answer?.status == .badRequest
                && browser.shows(#"action="\#(CodeAddress.Page.newAddress.rawValue)?to="#))
        let stranger = PageBrowser(world)
        try await stranger.signIn("eve@example.org")
        try await stranger.get(place)
        #expect(stranger.place == "/account/data")
        // It is good on this page alone.
        try await browser.get(place.replacing("/account/email/confirm", with: "/login/code"))
        #expect(browser.place == "/login")
    }
}
