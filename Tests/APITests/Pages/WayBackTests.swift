import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `What pages say after an action` {
    private func browser(_ settings: JSONObject = [:]) async throws -> PageBrowser {
        let usual: JSONObject = ["registration": "jit_on_otp", "login_passphrase": true]
        return PageBrowser(try await SignInWorld(usual.merging(settings) { $1 }))
    }

    private func type(_ code: String, _ browser: PageBrowser) async throws {
        let action = try #require(
            browser.page.firstMatch(of: #/action="(\/[a-z\/]+\?[^"]*to=[^"]*)"/#))
        try await browser.submit(
            String(action.1).replacing("&amp;", with: "&"),
            [("email", browser.value(of: "email") ?? ""), ("code", code)])
        #expect(browser.answer?.status == .badRequest)
    }

    private func again(_ path: String, _ browser: PageBrowser) async throws {
        try await browser.submit(
            path,
            browser.returnTarget + [
                ("email", browser.value(of: "email") ?? ""),
                ("to", try #require(browser.value(of: "to"))), ("by", "email_code"),
            ])
        try await browser.follow()
    }

    @Test func `pages say that a code is over, the same for every address`() async throws {
        let browser = try await browser(
            (["registration": "off"] as JSONObject).merging(PageBrowser.unlimited) { $1 })
        try await browser.world.carryOut(
            RegisterAccount(
                account: UUID.random(),
                addresses: Addresses(mailbox: browser.world.mint.mailbox("bea@example.org")),
                person: Person(email: "bea@example.org"), isConfirmed: true))
        let tries = 3
        var pages: [[String]] = []
        for email in ["bea@example.org", "nobody@example.org"] {
            var seen: [String] = []
            func keep() {
                seen.append(browser.pageUnsealed.replacing(email, with: "ann@example.org"))
            }
            try await browser.get("/login")
            try await browser.askForCode(email)
            #expect(!browser.shows("You asked for a new code"))
            for count in 1...tries {
                try await type("000000", browser)
                #expect(browser.shows("That code is wrong"))
                #expect(browser.shows("the one we sent has expired") == (count == tries))
                keep()
            }
            browser.world.clock.advance(seconds: 200)
            try await again("/login", browser)
            #expect(browser.shows("role=\"status\"") && browser.shows("You asked for a new code."))
            keep()
            try await type("000000", browser)
            #expect(
                !browser.shows("has expired. Ask") && !browser.shows("You asked for a new code"))
            keep()
            pages.append(seen)
        }
        #expect(pages.first == pages.last)
        browser.headers["Accept-Language"] = "de"
        for _ in 1..<tries { try await type("000000", browser) }
        #expect(browser.shows("ist der gesendete abgelaufen"))
        browser.world.clock.advance(seconds: 200)
        try await again("/login", browser)
        #expect(browser.shows("Sie haben einen neuen Code angefordert."))
    }

    @Test func `pages say that a limit was passed, until when, and where to go on`() async throws {
        let browser = try await browser()
        for (place, next) in [
            ("/login", "/login"), ("/login?next=%2Fdevice", "/login?next=%2Fdevice"),
        ] {
            try await browser.get(place)
            for _ in 0..<6 {
                let fields =
                    browser.returnTarget + [("email", "ann@example.org"), ("by", "email_code")]
                try await browser.submit("/login", fields)
                if browser.answer?.status == .tooManyRequests { break }
                try await browser.get(place)
            }
            #expect(browser.answer?.status == .tooManyRequests)
            #expect(browser.page.contains(/Please wait \d+ (minutes|seconds), then/))
            #expect(browser.shows("href=\"\(next)\""), "\(browser.page)")
            #expect(browser.shows("name=\"code\""))
        }
    }

    @Test func `pages say that an account form is over, and where its page is`() async throws {
        let browser = try await browser()
        try await browser.signIn()
        try await browser.get("/account/security")
        let (token, session) = (browser.token, browser.cookies["__Host-urd"])
        browser.cookies["__Host-urd"] = nil
        let form = [(name: "passphrase", value: "seven purple otters dance")]
        try await browser.submit("/account/passphrase", form, token: token)
        #expect(browser.answer?.status == .forbidden)
        #expect(browser.shows(#"href="/account/security""#))
        browser.cookies["__Host-urd"] = session
        // To no other site's form.
        try await browser.submit(
            "/account/passphrase", form, token: "x", ["Sec-Fetch-Site": "cross-site"])
        #expect(!browser.shows(#"href="/account/security""#))
    }

    @Test func `pages that mailed a code to a new address offer another code and a way back`()
        async throws
    {
        let browser = try await browser()
        let world = browser.world
        try await browser.signIn()
        world.clock.advance(seconds: 200)
        func ask(_ email: String) async throws {
            try await browser.get("/account/data")
            try await browser.submit("/account/email", [("email", email)])
        }
        try await ask(" ANN@example.org")
        #expect(browser.answer?.status == .badRequest)
        #expect(browser.shows("That is already your address."))
        let mailed = try await world.events().count { $0 == "otp.issued" }
        try await ask("anna@example.org")
        try await browser.follow()
        #expect(browser.shows(#"action="/account/email""#) && browser.shows("Send a new code"))
        #expect(browser.page.contains(/href="\/account\/data">Use another address/))
        try await again("/account/email", browser)
        #expect(browser.shows("You asked for a code a moment ago."))
        world.clock.advance(seconds: 200)
        try await again("/account/email", browser)
        #expect(browser.shows("You asked for a new code."))
        #expect(try await world.events().count { $0 == "otp.issued" } == mailed + 2)
        try await type("000000", browser)
        #expect(browser.shows("Send a new code") && browser.shows("That code is wrong"))
    }

    @Test(arguments: [
        ("ann.lee@example.org!!", false), ("Ann.Lee@Example.org 2026", false),
        ("ann.leeann.leeann.lee", false), ("1234567ann.lee", false),
        ("ann.lee@example.org and more", true), ("my dog ann.lee is old", true),
        ("annual purple otters", true),
    ])
    func `pages say that a passphrase is little more than the address`(
        text: String, isGood: Bool
    ) {
        let fault = PassphraseRule.check(text, of: "ann.lee@example.org")
        #expect((fault == nil) == isGood, "\(text)")
    }

    @Test func `a passphrase is not refused for a part of the name that is a common word`() {
        #expect(PassphraseRule.check("banana canals and a van", of: "an@example.org") == nil)
    }
}
