import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `Attacks on pages` {
    @Test func `a cross-site form in another person's name is refused`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn()
        try await browser.get("/logout")
        let token = try #require(browser.token)
        let nearly = String(token.dropLast()) + (token.last == "A" ? "E" : "A")
        let wrong: [(Headers, String)] = [
            ([:], ""), ([:], "AAAA"), ([:], nearly),
            (["Sec-Fetch-Site": "cross-site"], token), (["Sec-Fetch-Site": "same-site"], token),
            (["Sec-Fetch-Site": "none"], token), (["Origin": "https://evil.example"], token),
            (["Origin": "null"], token),
            (["Origin": "https://id.acme.example.evil.example"], token),
        ]
        for (headers, token) in wrong {
            try await browser.submit("/logout", token: token, headers)
            #expect(browser.answer?.status == .forbidden, "\(headers) \(token)")
        }
        let kept = browser.cookies["__Host-urd-form"]
        browser.cookies["__Host-urd-form"] = nil
        try await browser.submit("/logout", token: token)
        #expect(browser.answer?.status == .forbidden)
        #expect(try await !browser.world.events().contains("browser.ended"))
        browser.cookies["__Host-urd-form"] = kept
        try await browser.submit(
            "/logout", token: token,
            ["Origin": "https://id.acme.example", "Sec-Fetch-Site": "same-origin"])
        #expect(browser.place == "/logged-out")
    }

    @Test func `a form with another person's token, or without one, is refused (CSRF)`()
        async throws
    {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn()
        var count = 0
        for route in API.pageTable where route.outline.method == .post {
            guard route.outline.voice == .page else { continue }
            for token in ["", "AAAA"] {
                try await browser.submit("\(route.outline.path)", token: token)
                #expect(browser.answer?.status == .forbidden, "\(route.outline.path)")
            }
            count += 1
        }
        #expect(count > 20)
    }

    @Test func `a login form cannot sign a person in to another account`() async throws {
        // The attacker has a code for his own mailbox, and a form of his own browser.
        let world = try await SignInWorld()
        let attacker = PageBrowser(world)
        try await attacker.get("/login")
        try await attacker.askForCode("eve@example.org")
        let code = try await attacker.code()
        let victim = PageBrowser(world)
        try await victim.get("/login")
        try await victim.submit(
            "/login/code", [("email", "eve@example.org"), ("code", code)],
            token: attacker.token ?? "none")
        #expect(victim.answer?.status == .forbidden)
        #expect(victim.cookies["__Host-urd"] == nil)
    }

    @Test func `a planted session cookie is replaced at sign-in (session fixation)`()
        async throws
    {
        let world = try await SignInWorld()
        let browser = PageBrowser(world)
        try await browser.signIn()
        let first = browser.cookies["__Host-urd"]
        let token = try await csrfToken(browser)
        world.clock.advance(seconds: 200)
        try await browser.signIn(from: "/login?next=/account")
        let second = browser.cookies["__Host-urd"]
        #expect(first != second)
        #expect(try await world.events().suffix(2) == ["browser.opened", "browser.ended"])
        // Neither the cookie from before is good, nor a form from before.
        try await browser.submit("/logout", token: token)
        #expect(browser.answer?.status == .forbidden)
        browser.cookies["__Host-urd"] = first
        try await browser.get("/logout")
        #expect(browser.place == "/logged-out")
    }

    private func csrfToken(_ browser: PageBrowser) async throws -> String {
        try await browser.get("/logout")
        return try #require(browser.token)
    }

    @Test func `a forged cookie is refused`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn()
        let good = try #require(browser.cookies["__Host-urd"])
        let bytes = try #require(Base64URL.decode(good))
        var otherSecret = bytes
        otherSecret[47] ^= 1
        var otherSession = bytes
        otherSession[3] ^= 1
        for wrong in [
            "", "a", String(good.dropLast(4)), good + "AAAA", Base64URL.encode(otherSecret),
            Base64URL.encode(otherSession), Base64URL.encode(Array(bytes.prefix(16))),
            "\(good); __Host-urd=\(good)", String(repeating: "A", count: 5000), "\u{FF}",
        ] {
            browser.cookies["__Host-urd"] = wrong
            try await browser.get("/logout")
            #expect(browser.place == "/logged-out", "\(wrong)")
        }
        browser.cookies["__Host-urd"] = good
        try await browser.get("/logout")
        #expect(browser.answer?.status == .ok)
    }

    @Test(arguments: [
        "https://evil.example", "//evil.example", "/\\evil.example", "/account//evil.example",
        "/account@evil.example", "/accountable", "/account/../connect/authorize", "javascript:x",
        "/account\u{9}", "account", "/login", "/account#x", "",
    ])
    func `a return address outside the site is refused (open redirect)`(_ place: String)
        async throws
    {
        let encoded = Percent.encode(place)
        for name in ["next", "continue"] {
            let browser = PageBrowser(try await SignInWorld())
            try await browser.signIn(from: "/login?\(name)=\(encoded)")
            // What could be a sealed request is shown to whoever can tell.
            let isSealed = name == "continue" && ["account"].contains(place)
            #expect(
                browser.place == (isSealed ? "/connect/authorize?continue=account" : "/account"),
                "\(name)=\(place)")
        }
    }

    @Test func `a return address of an account page is accepted`() async throws {
        let browser = PageBrowser(try await SignInWorld())
        try await browser.signIn(from: "/login?next=%2Faccount%2Fsecurity%3Fa%3Db")
        #expect(browser.place == "/account/security?a=b")
    }

    @Test func `a page escapes what it echoes (XSS)`() async throws {
        let marker = #""'><script>alert(1)</script><img src=x onerror=alert(1)>`"#
        let world = try await SignInWorld([
            "registration": "invite_code", "login_link": true,
            "display_name": .string("<b>Acme</b>\"'"),
            "logo_url": "https://cdn.example/logo.svg",
        ])
        let browser = PageBrowser(world)
        let echoed: [(String, [(name: String, value: String)])] = [
            ("/login", [("email", marker), ("by", "email_code")]),
            ("/login", [("email", "\(marker)@example.org"), ("by", marker)]),
            ("/login/code", [("email", "ann@example.org"), ("code", marker), ("totp", marker)]),
            ("/login/passkey", [("ceremony", marker), ("assertion", marker)]),
            ("/magic-login", [("userId", marker), ("token", marker)]),
        ]
        for (path, fields) in echoed {
            for extra in ["continue", "next"] {
                try await browser.get("/login?\(extra)=\(Percent.encode(marker))")
                expectHarmless(browser, marker)
                try await browser.submit(path, fields + [(extra, marker)])
                expectHarmless(browser, marker)
            }
        }
        try await browser.get(
            "/magic-login?userId=\(Percent.encode(marker))&token=\(Percent.encode(marker))")
        expectHarmless(browser, marker)
    }

    private func expectHarmless(_ browser: PageBrowser, _ marker: String) {
        #expect(!browser.shows("<script>alert") && !browser.shows("<img src=x"))
        #expect(!browser.shows("<b>Acme"))
        #expect(!browser.shows(marker))
    }

    @Test func `a page answers any bytes in a request with a page`() async throws {
        let world = try await SignInWorld()
        for (body, status) in [
            ("%", Status.badRequest), ("form=a&form=b", .badRequest),
            ("email=" + String(repeating: "a", count: 70_000), .contentTooLarge),
            ("email=%00", .badRequest), ("", .forbidden), ("other=1", .forbidden),
        ] {
            let answer = await world.router.respond(
                to: Request(
                    method: .post, path: "/login", query: nil,
                    headers: [
                        "Host": "id.acme.example",
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: Array(body.utf8), source: "::1", id: "r"))
            #expect(answer.status == status, "\(body.prefix(40))")
            #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
            PageCheck(String(decoding: answer.body, as: UTF8.self), "/login").check(answer)
        }
    }
}
