import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let strong = "urn:modgud:acr:multi"

/// Ann signed in with a browser by a mailed code alone, and has an authenticator app since.
@Suite struct `An app that asks for a stronger sign-in` {
    private func ann() async throws -> (SignInWorld, PageBrowser, Authenticator) {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "otp_resend_delay": 0,
        ])
        let browser = PageBrowser(world)
        try await browser.signIn()
        let (app, _) = try await world.enroll(try await world.token())
        try await world.register(
            "web",
            [
                "grant_types": ["authorization_code", "refresh_token"], "consent": "none",
                "redirect_uris": [.string(AuthorizeWorld.back)], "client_name": "Northwind",
                "token_endpoint_auth_method": "client_secret_post",
                "policy_uri": "https://web.example/privacy", "tos_uri": "https://web.example/terms",
            ], secret: SignInWorld.secret)
        return (world, browser, app)
    }

    private func place(_ more: Pairs) -> String {
        "/connect/authorize?\(Form.encode(AuthorizeWorld.request(more)))"
    }

    private func idToken(_ world: SignInWorld, _ browser: PageBrowser) async throws -> IDToken {
        let back = try #require(browser.place)
        let query = try #require(back.split(separator: "?").last)
        let pairs = try #require(Form.parse(Array(query.utf8)))
        let code = try #require(pairs.first { $0.name == "code" }?.value)
        let answer = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", "authorization_code"),
                ("code", code),
                ("client_id", "web"), ("client_secret", SignInWorld.secret),
                ("redirect_uri", AuthorizeWorld.back),
                ("code_verifier", AuthorizeWorld.verifier),
            ])
        return try IDToken.check(
            try #require(answer.json["id_token"]?.string), keys: try await world.keySet(),
            issuer: AuthorizeWorld.issuer, clientID: "web", nonce: "n-1",
            accessToken: try #require(answer.json["access_token"]?.string),
            at: world.clock.next())
    }

    @Test func `a step-up by one more factor gives the acr that the client asked for`() async throws
    {
        let (world, browser, app) = try await ann()
        try await browser.get(place([]))
        let before = try await idToken(world, browser)
        #expect(before.authenticationContext != strong)
        let cookie = browser.cookies["__Host-urd"]
        try await browser.get(place([("acr_values", strong)]))
        try await browser.follow()
        #expect(browser.shows("stronger sign-in") && browser.shows("/login/step-up"))
        #expect(browser.shows("https://web.example/privacy"))
        #expect(browser.shows("https://web.example/terms"))
        try await browser.submit("/login/step-up", browser.returnTarget + [("totp", "000000x")])
        #expect(browser.answer?.status == .badRequest && browser.shows("That code is wrong"))
        #expect(browser.shows("or there were too many attempts"))
        #expect(browser.cookies["__Host-urd"] == cookie)
        try await browser.submit(
            "/login/step-up", browser.returnTarget + [("totp", try app.code(at: world.clock))])
        #expect(browser.cookies["__Host-urd"] != cookie, "The session is a new one.")
        try await browser.follow()
        let after = try await idToken(world, browser)
        #expect(after.authenticationContext == strong)
        #expect(after.authenticationMethods == ["otp", "mfa"])
        let (first, second) = (
            try #require(before.authenticatedAt), try #require(after.authenticatedAt)
        )
        #expect(first < second)
        // From now on nobody asks.
        try await browser.get(place([("acr_values", strong)]))
        #expect(try await idToken(world, browser).authenticationContext == strong)
    }

    @Test(arguments: [("prompt", "login"), ("max_age", "0")])
    func `a step-up by one factor is not offered where a new login is demanded`(
        name: String, value: String
    ) async throws {
        let (world, browser, app) = try await ann()
        world.clock.advance(seconds: 10)
        try await browser.get(place([("acr_values", strong), (name, value)]))
        try await browser.follow()
        #expect(browser.shows("stronger sign-in") && !browser.shows("/login/step-up"))
        // The form that is not shown is not taken either.
        try await browser.submit(
            "/login/step-up", browser.returnTarget + [("totp", try app.code(at: world.clock))])
        #expect(browser.place?.hasPrefix("/login?continue=") == true)
    }

    @Test func `a step-up is not offered without a factor, or after an old sign-in`() async throws {
        let (world, browser, _) = try await ann()
        let other = PageBrowser(world)
        try await other.signIn("bob@example.org")
        try await other.get(place([("acr_values", strong)]))
        try await other.follow()
        #expect(other.shows("stronger sign-in") && !other.shows("/login/step-up"))
        #expect(other.shows("You have no passkey or authenticator app yet."))
        #expect(!other.shows("New here?"), "It is for the person who is signed in.")
        try await other.submit("/login/step-up", other.returnTarget + [("totp", "123456")])
        #expect(other.place?.hasPrefix("/login?continue=") == true)
        world.clock.advance(seconds: 2 * 86_400)
        try await browser.get(place([("acr_values", strong)]))
        try await browser.follow()
        #expect(!browser.shows("/login/step-up"))
        // Nobody who is signed in nowhere is asked for it alone.
        let nobody = PageBrowser(world)
        try await nobody.get(place([("acr_values", strong)]))
        try await nobody.follow()
        #expect(nobody.shows("stronger sign-in") && !nobody.shows("/login/step-up"))
        #expect(nobody.shows("New here?") && !nobody.shows("You have no passkey"))
    }
}
