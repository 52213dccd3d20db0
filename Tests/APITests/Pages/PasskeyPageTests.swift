import EventSourcing
import HTTP
import Identity
import JSON
import SecurityKeys
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

@Suite struct `Signing in on a page with a passkey` {
    /// Ann, with a passkey that she made in an app.
    private func world() async throws -> (PasskeyWorld, SoftKey) {
        let passkeys = try await PasskeyWorld()
        let key = try SoftKey(of: passkeys.account)
        try await passkeys.enroll(key)
        return (passkeys, key)
    }

    private func begin(_ browser: PageBrowser) async throws -> Begun {
        try Begun(try await browser.submit("/login/passkey/begin", token: ""))
    }

    private func finish(
        _ browser: PageBrowser, _ begun: Begun, _ assertion: String, _ token: String?
    ) async throws {
        try await browser.submit(
            "/login/passkey", [("ceremony", begun.id), ("assertion", assertion)], token: token)
    }

    @Test func `a passkey made anywhere in the realm signs in on a page`() async throws {
        let (passkeys, key) = try await world()
        let browser = PageBrowser(passkeys.world)
        try await browser.get("/login?next=/account/security")
        #expect(browser.shows("passkey-button") && browser.shows(AssetRoutes.scriptPath))
        #expect(
            browser.answer?.response.headers["Content-Security-Policy"]?
                .contains("script-src 'self'") == true)
        let token = browser.token
        let begun = try await begin(browser)
        try await finish(browser, begun, try key.assertion(begun), token)
        #expect(browser.place == "/account")
        let opened = try await passkeys.events("browser.opened").last
        #expect(opened?.open["amr"] == ["hwk"])
        #expect(opened?.open["method"] == "passkey")
        // What was begun can be gone through once.
        browser.cookies["__Host-urd"] = nil
        try await browser.get("/login")
        try await finish(browser, begun, try key.assertion(begun), browser.token)
        #expect(browser.answer?.status == .badRequest)
        #expect(browser.shows("could not be used"))
        #expect(
            try await passkeys.events("browser.refused").last?.open["reason"] == "ceremony_used")
    }

    @Test func `a passkey ceremony of a page belongs to its browser and is refused elsewhere`()
        async throws
    {
        let (passkeys, key) = try await world()
        let (attacker, victim) = (PageBrowser(passkeys.world), PageBrowser(passkeys.world))
        try await attacker.get("/login")
        try await victim.get("/login")
        let token = victim.token
        let begun = try await begin(attacker)
        try await finish(victim, begun, try key.assertion(begun), token)
        #expect(victim.answer?.status == .badRequest)
        #expect(victim.cookies["__Host-urd"] == nil)
        // Neither does a client redeem a page's, nor a page a client's.
        let again = try await begin(attacker)
        #expect(
            try await passkeys.redeem(again.id, try key.assertion(again)).status == .badRequest)
        let native = try await passkeys.begin()
        try await victim.get("/login")
        try await finish(victim, native, try key.assertion(native), victim.token)
        #expect(victim.answer?.status == .badRequest)
        #expect(try await passkeys.events("browser.opened").isEmpty)
    }

    @Test func `a passkey ceremony is not begun for another site, or where passkeys are off`()
        async throws
    {
        let (passkeys, _) = try await world()
        let browser = PageBrowser(passkeys.world)
        browser.headers["Sec-Fetch-Site"] = "cross-site"
        try await browser.submit("/login/passkey/begin")
        #expect(browser.answer?.status == .forbidden)
        #expect(browser.answer?.response.headers["Retry-After"] == nil)
        let off = PageBrowser(
            try await PasskeyWorld(["login_passkey": false]).world)
        try await off.get("/login")
        #expect(!off.shows("passkey-button"))
        let token = off.token
        try await off.submit("/login/passkey/begin")
        #expect(off.answer?.status == .serviceUnavailable)
        try await off.submit("/login/passkey", [("ceremony", "a")], token: token)
        #expect(off.answer?.status == .notFound)
    }
}

@Suite struct `Making a passkey on a page` {
    /// What the page asks for (`userVerification: required`) is demanded: such a passkey would sign nobody
    /// in later.
    @Test func `a passkey made on a page without user verification is refused`() async throws {
        let passkeys = try await PasskeyWorld()
        let browser = PageBrowser(passkeys.world)
        try await browser.signIn("ann@example.org")
        let key = try SoftKey(of: passkeys.account)
        func add(flags: UInt8) async throws {
            try await browser.get("/account/security")
            let token = browser.token
            let begun = try Begun(
                try await browser.submit("/account/passkeys/begin", token: token))
            #expect(
                begun.options["authenticatorSelection"]?["userVerification"] == "required")
            let attestation = try key.attestation(begun) { $0.flags = flags }
            try await browser.submit(
                "/account/passkeys/add",
                [
                    ("ceremony", begun.id),
                    ("attestation", String(decoding: attestation.canonical(), as: UTF8.self)),
                ], token: token)
        }
        try await add(flags: 0x41)
        #expect(browser.answer?.status == .badRequest && browser.shows("could not be added"))
        #expect(try await passkeys.lastReason() == "userNotVerified")
        #expect(try await passkeys.events("passkey.enrolled").isEmpty)
        try await add(flags: 0x45)
        #expect(browser.place == "/account/security?done=passkey-added")
        #expect(try await passkeys.signIn(key).status == .ok)
    }
}

@Suite struct `Signing in by a mailed link` {
    private func world(_ more: JSONObject = [:]) async throws -> SignInWorld {
        try await SignInWorld(
            (["registration": "jit_on_otp", "login_link": true] as JSONObject).merging(more) { $1 })
    }

    /// The path of the link that the last mail would bring.
    private func link(_ world: SignInWorld) async throws -> String {
        let issued = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "link.issued" })
        guard case .linkIssued(let link) = MailboxEvent(issued) else { return "" }
        let address = try #require(world.mint.address(of: link))
        return String(address.dropFirst(link.base.utf8.count))
    }

    private func ask(_ browser: PageBrowser, _ place: String = "/login") async throws {
        try await browser.get(place)
        try await browser.submit(
            "/login", browser.returnTarget + [("email", "ann@example.org"), ("by", "email_link")])
        #expect(browser.answer?.status == .ok)
    }

    private func redeem(_ browser: PageBrowser, totp: String? = nil) async throws {
        try await browser.submit(
            "/magic-login",
            [
                ("userId", browser.value(of: "userId") ?? ""),
                ("token", browser.value(of: "token") ?? ""),
            ] + (totp.map { [("totp", $0)] } ?? []))
    }

    @Test func `a mailed link asks first, so that opening it signs nobody in`() async throws {
        let world = try await world()
        _ = try await world.token()
        let browser = PageBrowser(world)
        try await ask(browser, "/login?continue=sealed-request")
        let link = try await link(world)
        #expect(!link.contains("sealed-request"))
        let events = try await world.events()
        for _ in 0..<3 {
            let scanner = PageBrowser(world)
            try await scanner.get(link)
            #expect(scanner.shows("ann@example.org"))
        }
        #expect(try await world.events() == events)
        try await browser.get(link)
        try await redeem(browser)
        #expect(browser.place == "/connect/authorize?continue=sealed-request")
        #expect(browser.cookies["__Host-urd"] != nil)
        try await browser.get(link)
        #expect(
            browser.answer?.status == .badRequest
                && browser.shows("This link has expired or was already used"))
    }

    @Test func `a mailed link keeps a long authorization request on the server, not in the mail`()
        async throws
    {
        let world = try await world()
        _ = try await world.token()
        let browser = PageBrowser(world)
        let sealed = String(repeating: "s", count: 3000)
        try await ask(browser, "/login?continue=\(sealed)")
        let link = try await link(world)
        #expect(link.utf8.count < 200)
        try await browser.get(link)
        try await redeem(browser)
        #expect(browser.place == "/connect/authorize?continue=\(sealed)")
    }

    @Test func `a mailed link confirmed fifty times at once signs in once`() async throws {
        let world = try await world(PageBrowser.unlimited)
        _ = try await world.token()
        let browser = PageBrowser(world)
        try await ask(browser)
        try await browser.get(try await link(world))
        let answers = await browser.together(
            50, "/magic-login",
            [
                ("userId", browser.value(of: "userId") ?? ""),
                ("token", browser.value(of: "token") ?? ""),
            ])
        #expect(answers.filter { $0 == .seeOther }.count == 1)
        #expect(try await world.events().filter { $0 == "browser.opened" }.count == 1)
    }

    @Test func `a mailed link used again or made up is recorded`() async throws {
        let world = try await world(PageBrowser.unlimited)
        _ = try await world.token()
        let browser = PageBrowser(world)
        try await ask(browser)
        try await browser.get(try await link(world))
        let (user, token) = (browser.value(of: "userId") ?? "", browser.value(of: "token") ?? "")
        try await browser.submit("/magic-login", [("userId", user), ("token", token)])
        #expect(browser.cookies["__Host-urd"] != nil)
        let made = String(repeating: "A", count: 43)
        for (count, shown) in [token, made].enumerated() {
            let other = PageBrowser(world)
            try await other.get("/login")
            try await other.submit("/magic-login", [("userId", user), ("token", shown)])
            #expect(other.answer?.status == .badRequest && other.cookies["__Host-urd"] == nil)
            let refused = try await world.log.events(from: 1, limit: .max, in: world.realm)
                .filter { $0.name == "browser.refused" }
            #expect(refused.count == count + 1)
            #expect(refused.last?.open["reason"] == "invalid_link")
            #expect(refused.last?.open["account"] == .string(user))
        }
    }

    @Test func `a mailed link that is invalid is answered the same as an expired one`() async throws
    {
        let world = try await world()
        _ = try await world.token()
        let browser = PageBrowser(world)
        try await ask(browser)
        let link = try await link(world)
        for wrong in [
            "/magic-login", link.replacing("token=", with: "token=A"),
            link.replacing("userId=", with: "userId=0"),
            link.replacing("&redirect", with: "A&redirect"),
        ] {
            try await browser.get(wrong)
            #expect(browser.answer?.status == .badRequest)
            #expect(!browser.shows("ann@example.org"))
        }
        world.clock.advance(seconds: 901)
        try await browser.get(link)
        #expect(browser.answer?.status == .badRequest)
    }

    @Test func `a mailed link is not used up before the second factor was shown`() async throws {
        let world = try await world()
        let (app, _) = try await world.enroll(try await world.token())
        let browser = PageBrowser(world)
        try await ask(browser)
        try await browser.get(try await link(world))
        #expect(browser.shows("name=\"totp\""))
        try await redeem(browser)
        #expect(browser.answer?.status == .badRequest && browser.shows("name=\"totp\""))
        try await redeem(browser, totp: try app.code(at: world.clock))
        #expect(browser.place == "/account")
    }

    @Test func `a mailed link is sent to accounts alone, with the same answer for every address`()
        async throws
    {
        let world = try await world()
        let browser = PageBrowser(world)
        try await ask(browser)
        let page = browser.page
        #expect(try await !world.events().contains("link.issued"))
        _ = try await world.token()
        try await ask(browser)
        #expect(browser.page == page)
        #expect(try await world.events().contains("link.issued"))
    }
}
