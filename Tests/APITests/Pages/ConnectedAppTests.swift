import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// Ann let an app see her address, and it did nothing with it so far.
@Suite struct `A connected app` {
    private func ann(_ more: JSONObject = [:]) async throws -> PageBrowser {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let client: JSONObject = [
            "grant_types": ["authorization_code", "refresh_token"], "consent": "needed",
            "redirect_uris": [.string(AuthorizeWorld.back)], "client_name": "North<wind>",
            "token_endpoint_auth_method": "client_secret_post",
        ]
        try await world.register("web", client.merging(more) { $1 }, secret: SignInWorld.secret)
        let browser = PageBrowser(world)
        try await browser.signIn()
        try await ask(browser)
        try await browser.follow()
        try await browser.submit("/consent", browser.returnTarget + [("decision", "allow")])
        try await browser.follow()
        #expect(browser.place?.hasPrefix(AuthorizeWorld.back) == true)
        return browser
    }

    private func ask(_ browser: PageBrowser) async throws {
        let request = AuthorizeWorld.request([("scope", "openid email")])
        try await browser.get("/connect/authorize?\(Form.encode(request))")
    }

    private func expectListed(_ browser: PageBrowser) async throws {
        try await browser.get("/account/sessions")
        #expect(browser.shows("<strong>North&lt;wind&gt;</strong>"))
        #expect(browser.shows("Allowed <time") && browser.shows("see your e-mail address"))
        #expect(browser.shows("Remove access: North&lt;wind&gt;"))
        #expect(!browser.shows("Last used") && !browser.shows("No app has access"))
    }

    private func remove(_ browser: PageBrowser) async throws {
        try await browser.get("/account/sessions")
        try await browser.submit("/account/apps/end", [("client", "web")])
        #expect(browser.place == "/account/sessions?done=access-removed")
        try await browser.follow()
        #expect(browser.shows("No app has access to your account."))
    }

    @Test func `a connected app is listed without a session until its access is removed`()
        async throws
    {
        let browser = try await ann()
        try await expectListed(browser)
        browser.headers["Accept-Language"] = "de"
        try await browser.get("/account/sessions")
        #expect(browser.shows("Erlaubt <time") && browser.shows("Ihre E-Mail-Adresse sehen"))
        browser.headers["Accept-Language"] = "en"
        try await ask(browser)
        #expect(browser.place?.hasPrefix(AuthorizeWorld.back) == true)
        try await remove(browser)
        try await ask(browser)
        #expect(browser.place?.hasPrefix("/consent") == true)
        // Nobody else's is touched or seen.
        let other = PageBrowser(browser.world)
        try await other.signIn("eve@example.org")
        try await other.get("/account/sessions")
        #expect(other.shows("No app has access to your account."))
    }

    @Test func `a connected app is listed after its person signed out everywhere`() async throws {
        let browser = try await ann()
        try await browser.get("/account/sessions")
        try await browser.submit("/account/sessions/end-all")
        try await browser.signIn()
        try await expectListed(browser)
    }

    @Test func `a connected app's access can be removed after the app was deleted`() async throws {
        let browser = try await ann()
        let world = browser.world
        let client = try #require(
            try await MemoryQueries(log: world.log).ask(
                KnownClient.byClientID, "web", in: world.realm))
        try await world.carryOut(DeleteClient(id: client.id))
        try await remove(browser)
        #expect(try await world.events().last == "consent.withdrawn")
    }

    @Test func `a connected app stands in the person's export`() async throws {
        let browser = try await ann(["resources_listed_only": true])
        let known = try await browser.get("/account/data.json").json["consents"]?.array
        let consent = try #require(known?.first)
        #expect(known?.count == 1 && consent["client"] == "web")
        #expect(consent["client_name"] == "North<wind>")
        #expect(consent["scope"] == ["openid", "email"] && consent["resources"] == [])
        #expect(consent["given_at"]?.string?.isEmpty == false)
        let place = try #require(consent["places"]?.array?.first)
        #expect(place["place"] == "web.example" && place["scope"] == ["openid", "email"])
        try await browser.get("/account/sessions")
        #expect(browser.shows("led you to web.example"))
        try await remove(browser)
        #expect(try await browser.get("/account/data.json").json["consents"] == [])
    }
}
