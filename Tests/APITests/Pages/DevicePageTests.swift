import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

@Suite struct `The device page` {
    private func world() async throws -> SignInWorld {
        let world = try await SignInWorld()
        try await world.register(
            "television",
            [
                "client_name": "Tele<b>vision", "token_endpoint_auth_method": "none",
                "grant_types": [.string(deviceGrant)],
            ])
        return world
    }

    private func ask(_ world: SignInWorld) async throws -> JSON {
        try await world.post(
            "/connect/deviceauthorization",
            form: [("client_id", "television"), ("scope", "openid email")]
        ).json
    }

    private func poll(_ world: SignInWorld, _ device: JSON) async throws -> JSON {
        world.clock.advance(seconds: 60)
        return try await world.post(
            "/connect/token",
            form: [
                ("grant_type", deviceGrant), ("client_id", "television"),
                ("device_code", device["device_code"]?.string ?? ""),
            ]
        ).json
    }

    @Test func `the device page admits a device after a sign-in and a confirmation`() async throws {
        let world = try await world()
        let device = try await ask(world)
        let code = try #require(device["user_code"]?.string)
        let browser = PageBrowser(world)
        try await browser.signIn(from: "/login?next=/device")
        try await browser.get("/device?user_code=\(code)")
        #expect(browser.shows("Tele&lt;b&gt;vision") && browser.shows(code))
        #expect(try await poll(world, device)["error"] == "authorization_pending", "Only shown.")
        try await browser.submit(
            "/device", [("user_code", code.lowercased()), ("decision", "allow")])
        #expect(browser.place == "/device?done=allow")
        try await browser.follow()
        #expect(try await poll(world, device)["scope"] == "openid email")
        try await browser.get("/device")
        try await browser.submit("/device", [("user_code", code), ("decision", "allow")])
        #expect(browser.answer?.status == .badRequest, "It is decided.")
    }

    @Test func `the device page names the account, offers to switch and warns of unverified apps`()
        async throws
    {
        let world = try await world()
        let warning = "This name has not been verified."
        let browser = PageBrowser(world)
        try await browser.signIn()
        let code = try #require(try await ask(world)["user_code"]?.string)
        try await browser.get("/device?user_code=\(code)")
        #expect(browser.shows("ann@example.org") && !browser.shows(warning))
        // Whoever opens a page by hand gets to the same one by typing.
        try await browser.get("/device")
        try await browser.submit("/device", [("user_code", code)])
        #expect(browser.shows("ann@example.org"))
        let login = "/login?next=%2Fdevice%3Fuser_code%3D\(code)&other=1"
        #expect(browser.shows(#"href="\#(login.replacing("&", with: "&amp;"))""#))
        try await browser.get(login)
        #expect(browser.answer?.status == .ok && !browser.shows("confirm that it is you"))
        try await browser.signIn("ben@example.org", from: login)
        try await browser.follow()
        #expect(browser.shows("ben@example.org") && !browser.shows("ann@example.org"))
        // One that registered itself.
        try await world.register(
            "stranger",
            [
                "client_name": "Acme Support", "token_endpoint_auth_method": "none",
                "grant_types": [.string(deviceGrant)], "resources_listed_only": true,
            ])
        let other = try await world.post(
            "/connect/deviceauthorization", form: [("client_id", "stranger"), ("scope", "openid")])
        #expect(!browser.shows("would be good at"))
        let far = try await world.post(
            "/connect/deviceauthorization",
            form: [("client_id", "television"), ("resource", "https://api.example/a")])
        try await browser.get("/device?user_code=\(far.json["user_code"]?.string ?? "")")
        #expect(browser.shows("would be good at") && browser.shows("https://api.example/a</code>"))
        try await browser.get("/device?user_code=\(other.json["user_code"]?.string ?? "")")
        #expect(browser.shows("Acme Support") && browser.shows(warning))
    }

    @Test func `the device page denies a device and takes no other page's form`() async throws {
        let world = try await world()
        let device = try await ask(world)
        let code = device["user_code"]?.string ?? ""
        let stranger = PageBrowser(world)
        try await stranger.get("/device?user_code=\(code)")
        #expect(stranger.place?.hasPrefix("/login?next=%2Fdevice") == true)
        let browser = PageBrowser(world)
        try await browser.signIn()
        let forged = try await browser.submit(
            "/device", [("user_code", code), ("decision", "allow")], token: "x")
        #expect(forged.status == .forbidden)
        try await browser.get("/device")
        try await browser.submit("/device", [("user_code", "BCDF-GHJK")])
        #expect(browser.answer?.status == .badRequest)
        try await browser.submit("/device", [("user_code", code)])
        #expect(browser.shows(code))
        try await browser.submit("/device", [("user_code", code), ("decision", "deny")])
        #expect(browser.place == "/device?done=deny")
        #expect(try await poll(world, device)["error"] == "access_denied")
    }
}
