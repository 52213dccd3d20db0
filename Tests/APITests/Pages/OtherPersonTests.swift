import HTTP
import JSON
import Testing
import Values

@testable import API

/// Ann begins something in her account for which she has to sign in once more.
@Suite struct `Confirming one's identity` {
    private func ann() async throws -> PageBrowser {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let browser = PageBrowser(world)
        try await browser.signIn()
        world.clock.advance(seconds: 1000)
        return browser
    }

    private func begin(_ page: String, _ browser: PageBrowser) async throws -> String {
        try await browser.get(page)
        return try #require(browser.place)
    }

    @Test func `confirming one's identity leads back to the page, which names the account`()
        async throws
    {
        let browser = try await ann()
        try await browser.signIn(from: try await begin("/account/delete", browser))
        #expect(browser.place == "/account/delete")
        try await browser.follow()
        #expect(browser.shows("Signed in as <strong>ann@example.org</strong>"))
        try await browser.get("/account/security")
        #expect(browser.shows("Signed in as <strong>ann@example.org</strong>"))
    }

    @Test(arguments: ["/account/delete", "/account/data.json", "/account/authenticator"])
    func `confirming one's identity as another person changes nothing in their account`(
        page: String
    ) async throws {
        let browser = try await ann()
        try await browser.signIn("ben@example.org", from: try await begin(page, browser))
        #expect(browser.place == "/account?done=other-person")
        try await browser.follow()
        #expect(browser.shows("You are now signed in with another account."))
        #expect(browser.shows("<strong>ben@example.org</strong>"))
        browser.headers["Accept-Language"] = "de"
        try await browser.get("/account?done=other-person")
        #expect(browser.shows("mit einem anderen Konto angemeldet"))
        // Asked anew, it is his.
        try await browser.get("/account/delete")
        #expect(browser.answer?.status == .ok && browser.shows("ben@example.org"))
    }

    @Test func `confirming one's identity for a download leads to the page with its button`()
        async throws
    {
        let browser = try await ann()
        try await browser.signIn(from: try await begin("/account/data.json", browser))
        #expect(browser.place == "/account/data")
        try await browser.follow()
        #expect(browser.shows(#"href="/account/data.json""#))
        #expect(try await browser.get("/account/data.json").status == .ok)
    }
}
