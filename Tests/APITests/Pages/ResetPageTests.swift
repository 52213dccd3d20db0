import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A forgotten passphrase` {
    private static let chosen = "seven purple otters <dance>"

    private func world() async throws -> (SignInWorld, PageBrowser) {
        let world = try await SignInWorld(
            ([
                "registration": "jit_on_otp", "login_passphrase": true, "otp_resend_delay": 0,
            ] as JSONObject).merging(PageBrowser.unlimited) { $1 })
        let browser = PageBrowser(world)
        try await browser.signIn()
        return (world, browser)
    }

    private func ask(_ browser: PageBrowser, _ email: String = "ann@example.org") async throws {
        try await browser.get("/passphrase/forgotten")
        try await browser.submit("/passphrase/forgotten", [("email", email)])
    }

    private func mailed(_ world: SignInWorld) async throws -> String {
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let issued = events.compactMap { event in
            if case .issued(let link)? = MailedLinkEvent(event) { link } else { nil }
        }
        return world.mint.address(of: try #require(issued.last)).placeOnSite
    }

    private func reset(
        _ browser: PageBrowser, _ text: String, token: String? = nil
    ) async throws {
        let token = token ?? browser.value(of: "token") ?? ""
        try await browser.submit(
            "/passphrase/reset", [("token", token), ("passphrase", text)])
    }

    @Test func `a forgotten passphrase's page has the address that was typed at the login`()
        async throws
    {
        let (world, _) = try await world()
        let browser = PageBrowser(world)
        try await browser.get("/login?next=%2Faccount%2Fsecurity")
        try await browser.submit(
            "/login",
            browser.returnTarget + [
                ("email", "ann@example.org"), ("passphrase", "not mine at all"),
                ("by", "passphrase"),
            ])
        let link = try #require(
            browser.page.firstMatch(of: #/href="(\/passphrase\/forgotten[^"]*)"/#))
        let place = String(link.1).replacing("&amp;", with: "&")
        #expect(place.contains("next=%2Faccount%2Fsecurity") && !place.contains("ann%40"))
        #expect(!place.contains("ann@"))
        try await browser.get(place)
        #expect(browser.shows("value=\"ann@example.org\""))
        // Nobody else reads it, and none is made elsewhere.
        let stranger = PageBrowser(world)
        for place in [place, "/passphrase/forgotten?to=ann@example.org"] {
            try await stranger.get(place)
            #expect(stranger.answer?.status == .ok && !stranger.shows("ann@example.org"))
        }
    }

    @Test func `a forgotten passphrase is reset by a mailed link, which ends all sessions`()
        async throws
    {
        let (world, signedIn) = try await world()
        let browser = PageBrowser(world)
        try await browser.get("/login")
        #expect(browser.shows("/passphrase/forgotten"))
        try await ask(browser)
        try await browser.get(try await mailed(world))
        #expect(browser.shows("Choose a passphrase"))
        try await reset(browser, "too short")
        #expect(browser.answer?.status == .badRequest)
        // The address of the form can be opened, for the link is still good.
        let action = try #require(browser.page.firstMatch(of: /action="(.passphrase.reset[^"]*)"/))
        try await browser.get(String(action.1))
        #expect(browser.answer?.status == .ok && browser.shows("Choose a passphrase"))
        try await reset(browser, Self.chosen)
        #expect(browser.place?.hasPrefix("/login?to=") == true)
        try await browser.follow()
        #expect(browser.shows("role=\"status\"") && browser.shows("Your passphrase is set."))
        #expect(browser.shows("value=\"ann@example.org\"") && !browser.shows("address is now"))
        try await signedIn.get("/account")
        #expect(signedIn.place?.hasPrefix("/login") == true)
        try await browser.get("/login")
        try await browser.submit(
            "/login",
            [("email", "ann@example.org"), ("passphrase", Self.chosen), ("by", "passphrase")])
        #expect(browser.place == "/account")
        // Once.
        let late = PageBrowser(world)
        try await late.get(try await mailed(world))
        #expect(late.answer?.status == .badRequest)
    }

    @Test func `a reset passphrase continues the client's request`() async throws {
        let (world, _) = try await world()
        let browser = PageBrowser(world)
        let login = "/login?next=%2Faccount%2Fdata"
        try await browser.get(login)
        let page = login.replacing("/login", with: "/passphrase/forgotten")
        #expect(browser.shows(#"href="\#(page)""#))
        try await browser.get(page)
        #expect(browser.shows(#"href="\#(login)""#) && browser.shows(#"action="\#(page)""#))
        try await browser.submit(page, [("email", "ann@example.org")])
        #expect(browser.shows(#"href="\#(login)""#))
        // With another browser as well, as mails are often read with one.
        let other = PageBrowser(world)
        try await other.get(try await mailed(world))
        #expect(other.shows(#"autocomplete="username" value="ann@example.org" hidden"#))
        try await reset(other, Self.chosen)
        #expect(other.place?.hasPrefix(login + "&to=") == true)
        try await other.follow()
        #expect(other.shows("Your passphrase is set."))
        try await other.submit(
            "/login",
            other.returnTarget + [
                ("email", "ann@example.org"), ("passphrase", Self.chosen), ("by", "passphrase"),
            ])
        #expect(other.place == "/account/data")
    }

    @Test func `a forgotten passphrase's page answers the same for every address`() async throws {
        let (world, _) = try await world()
        let (known, unknown) = (PageBrowser(world), PageBrowser(world))
        try await ask(known)
        try await ask(unknown, "nobody@example.org")
        #expect(
            known.page == unknown.page.replacing("nobody@example.org", with: "ann@example.org"))
        #expect(try await world.events().count { $0 == "mailed_link.issued" } == 1)
    }

    @Test func `a forgotten passphrase's mails are rate-limited`() async throws {
        let (world, _) = try await world()
        for number in 0..<6 {
            let browser = PageBrowser(world)
            try await ask(browser)
            #expect(browser.answer?.status == (number < 5 ? .ok : .tooManyRequests))
        }
    }

    @Test func `a reset link used fifty times at once sets one passphrase`() async throws {
        let (world, _) = try await world()
        let browser = PageBrowser(world)
        try await ask(browser)
        try await browser.get(try await mailed(world))
        let statuses = await browser.together(
            50, "/passphrase/reset",
            [("token", browser.value(of: "token") ?? ""), ("passphrase", Self.chosen)])
        #expect(statuses.count { $0 == .seeOther } == 1)
        #expect(try await world.events().count { $0 == "passphrase.set" } == 1)
    }

    @Test func `a reset page does not exist where passphrases are off`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        for path in ["/passphrase/forgotten", "/passphrase/reset", "/.well-known/change-password"] {
            #expect(try await browser.get(path).status == .notFound, "\(path)")
        }
        let (world, _) = try await world()
        let other = PageBrowser(world)
        let answer = try await other.get("/.well-known/change-password")
        #expect(answer.response.headers["Location"] == "/account/security")
    }
}
