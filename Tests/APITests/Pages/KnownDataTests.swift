import EventSourcing
import HTTP
import JSON
import Testing
import Values

@testable import API

@Suite struct `The export of an account` {
    private func data(_ browser: PageBrowser) async throws -> JSON {
        let answer = try await browser.get("/account/data.json")
        #expect(answer.status == .ok)
        return answer.json
    }

    @Test func `an account's export tells the sign-in methods and places`() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "otp_resend_delay": 0, "login_passphrase": true,
        ])
        let browser = PageBrowser(world)
        browser.headers["User-Agent"] = "Mozilla/5.0 (Windows NT 10.0)"
        try await browser.signIn()
        let before = try await data(browser)
        #expect(before["passphrase_set_at"] == .null && before["recovery_codes_left"] == 0)
        let (_, recovery) = try await world.enroll(try await world.token())
        try await browser.get("/account/security")
        try await browser.submit(
            "/account/passphrase", [("passphrase", "seven purple otters dance")])
        let set = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .last { $0.name == "passphrase.set" })
        let other = PageBrowser(world)
        try await other.get("/login")
        try await other.askForCode()
        try await other.submit(
            "/login/code",
            [("email", "ann@example.org"), ("code", try await other.code()), ("totp", recovery[0])])
        #expect(other.answer?.status == .seeOther)
        let known = try await data(browser)
        #expect(
            known["passphrase_set_at"]?.string?.prefix(19) == set.at.description.prefix(19))
        #expect(known["recovery_codes_left"] == 9 && known["authenticator_app"] == true)
        let own = try #require(known["browsers"]?.array?.first { $0["device"] == "Windows" })
        let source = try #require(own["source"]?.string)
        let app = try #require(known["apps"]?.array?.first)
        #expect(app["client"] == "phone" && app["last_used_at"]?.string != nil)
        #expect(app["source"] == .string(source), "It is the same network.")
        let signIns = try #require(known["sign_ins"]?.array)
        #expect(signIns.contains { $0["device"] == "Windows" && $0["source"] == .string(source) })
        for secret in recovery + ["digest", "hash"] {
            #expect(!browser.shows(secret), "\(secret)")
        }
    }

    @Test func `an account's export has the former addresses`() async throws {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let browser = PageBrowser(world)
        try await browser.signIn()
        try await browser.get("/account/data")
        try await browser.submit("/account/email", [("email", "anna@example.org")])
        try await browser.follow()
        try await browser.submit(
            "/account/email/confirm",
            [("email", "anna@example.org"), ("code", try await browser.code())])
        try await browser.signIn("anna@example.org")
        let known = try #require(try await data(browser)["email_addresses"]?.array)
        #expect(known.map { $0["address"] } == ["ann@example.org", "anna@example.org"])
        let since = known.compactMap { $0["since"]?.string }
        #expect(since.count == 2 && since == since.sorted())
    }
}
