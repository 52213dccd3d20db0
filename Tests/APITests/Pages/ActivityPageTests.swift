import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The activity of an account` {
    @Test func `says in words why somebody was refused`() {
        func said(_ reason: String?, _ method: String, _ language: Language) -> String? {
            Words(language: language).refusal(
                LoginView(
                    position: 1, at: Timestamp(seconds: 0), account: nil, app: nil, clientID: nil,
                    method: method, isRefused: true, reason: reason, session: nil, source: nil,
                    device: nil))
        }
        let missing = "second_factor_required"
        #expect(said(missing, "passphrase", .english) == "Right passphrase, second step missing")
        #expect(said(missing, "email_code", .english) == "First step right, second step missing")
        let told = [missing, "invalid_second_factor", "invalid_passphrase", "invalid_code"]
        for language in [Language.english, .german] {
            #expect(Set(told.compactMap { said($0, "passphrase", language) }).count == told.count)
            for unknown in ["userNotVerified", "proofNeeded", "", nil] {
                #expect(said(unknown, "passkey", language) == nil)
            }
        }
    }

    @Test func `shows at an attempt what was wrong with it`() async throws {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let browser = PageBrowser(world)
        try await browser.signIn()
        let (app, _) = try await world.enroll(try await world.token())
        world.clock.advance(seconds: 200)
        let other = PageBrowser(world)
        func sign(_ fields: [(name: String, value: String)]) async throws {
            try await other.submit("/login/code", [("email", "ann@example.org")] + fields)
        }
        try await other.get("/login")
        try await other.askForCode()
        let code = try await other.code()
        try await sign([("code", code)])
        try await sign([("code", code), ("totp", "000000")])
        try await sign([("code", code), ("totp", try app.code(at: world.clock))])
        #expect(other.answer?.status == .seeOther)
        other.cookies = [:]
        try await other.get("/login")
        try await other.askForCode()
        try await sign([("code", try await other.code() == "000000" ? "111111" : "000000")])
        try await browser.get("/account/activity")
        for words in [
            "Wrong code, or one that is over", "First step right, second step missing",
            "Wrong authenticator code, or too many tries", ">Refused<", ">Signed in<",
        ] {
            #expect(browser.shows(words), "\(words)")
        }
        browser.headers["Accept-Language"] = "de"
        try await browser.get("/account/activity")
        #expect(browser.shows("Falscher Code der Authenticator-App"))
    }
}
