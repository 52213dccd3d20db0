import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `The activity of an account` {
    @Test func `the activity page says in words why a sign-in was refused`() {
        func said(_ reason: String?, _ method: String, _ language: Language) -> String? {
            LocalizedText(language: language).refusal(
                LoginView(
                    position: 1, at: Timestamp(seconds: 0), account: nil, app: nil, clientID: nil,
                    method: method, isRefused: true, reason: reason, session: nil, source: nil,
                    device: nil))
        }
        let missing = "second_factor_required"
        #expect(
            said(missing, "passphrase", .english)
                == "Passed step 1 of 2 with the right passphrase, step 2 is missing")
        #expect(said(missing, "email_code", .english) == "Passed step 1 of 2, step 2 is missing")
        let told = [
            missing, "invalid_second_factor", "invalid_passphrase", "invalid_code", "reuse",
            "code_reuse",
        ]
        for language in [Language.english, .german] {
            #expect(Set(told.compactMap { said($0, "passphrase", language) }).count == told.count)
            for unknown in ["userNotVerified", "proofNeeded", "", nil] {
                #expect(said(unknown, "passkey", language) == nil)
            }
        }
    }

    @Test func `the activity page shows once that a reused token signed its app out`() async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        var tokens = [try await world.join()["refresh_token"]?.string ?? ""]
        func refresh(_ token: String) async throws -> Answered {
            try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "refresh_token"), ("client_id", "phone"),
                    ("refresh_token", token),
                ])
        }
        for _ in 0..<2 {
            let answer = try await refresh(tokens.last ?? "")
            tokens.append(answer.json["refresh_token"]?.string ?? "")
        }
        for token in [tokens[0], tokens[0], tokens[2]] {
            #expect(try await refresh(token).json["error"] == "invalid_grant")
        }
        let browser = PageBrowser(world)
        try await browser.signIn()
        for (language, words) in [
            ("en", "A token of the app was used twice"),
            ("de", "Ein Token der App wurde zweimal benutzt"),
        ] {
            browser.headers["Accept-Language"] = language
            let answer = try await browser.get("/account/activity")
            let page = String(decoding: answer.response.body, as: UTF8.self)
            #expect(page.split(separator: words, omittingEmptySubsequences: false).count == 2)
        }
    }

    @Test func `the activity page shows each failed attempt with its fault`() async throws {
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
        // Here it ends; above the second step followed.
        try await sign([("code", try await other.code())])
        try await browser.get("/account/activity")
        for words in [
            "Wrong or expired code", "Passed step 1 of 2, step 2 is missing",
            ">Passed step 1 of 2<", ">Step 1 of 2<",
            "Wrong authenticator code, or too many attempts", ">Failed<", ">Signed in<",
        ] {
            #expect(browser.shows(words), "\(words)")
        }
        browser.headers["Accept-Language"] = "de"
        try await browser.get("/account/activity")
        #expect(browser.shows("Falscher Code der Authenticator-App"))
    }

    @Test func `the activity page shows a used recovery code and how many are left`() async throws {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let browser = PageBrowser(world)
        try await browser.signIn()
        let (_, recovery) = try await world.enroll(try await world.token())
        try await browser.get("/account/activity")
        #expect(!browser.shows("Recovery code used"))
        for left in [9, 8] {
            world.clock.advance(seconds: 200)
            let other = PageBrowser(world)
            try await other.get("/login")
            try await other.askForCode()
            try await other.submit(
                "/login/code",
                [
                    ("email", "ann@example.org"), ("code", try await other.code()),
                    ("totp", recovery[left]),
                ])
            #expect(other.answer?.status == .seeOther)
            try await browser.get("/account/activity")
            #expect(browser.shows("Recovery code used") && browser.shows("\(left) codes left"))
        }
        #expect(browser.page.matches(of: /Recovery code used/).count == 2)
        browser.headers["Accept-Language"] = "de"
        try await browser.get("/account/activity")
        #expect(browser.shows("Wiederherstellungscode benutzt"))
        #expect(browser.shows("noch 8 Codes übrig"))
    }

    @Test func `the activity page joins a first step to the second factor that followed`() {
        func attempt(
            _ position: Int64, at seconds: Int64, _ reason: String?, device: String = "Mac"
        ) -> LoginView {
            LoginView(
                position: position, at: Timestamp(seconds: seconds), account: nil, app: nil,
                clientID: nil, method: "passphrase", isRefused: reason != nil, reason: reason,
                session: nil, source: "AAAA", device: device)
        }
        func followed(_ attempts: LoginView...) -> Set<Int64> {
            FirstSteps.followed(attempts.reversed())
        }
        let first = attempt(1, at: 0, "second_factor_required")
        #expect(followed(first).isEmpty)
        #expect(followed(first, attempt(2, at: 9, nil)) == [1])
        #expect(followed(first, attempt(2, at: 9, "invalid_second_factor")) == [1])
        #expect(followed(first, attempt(2, at: 9, "invalid_passphrase")).isEmpty)
        #expect(followed(first, attempt(2, at: 900, nil)).isEmpty, "That is another sign-in.")
        #expect(followed(first, attempt(2, at: 9, nil, device: "iPhone")).isEmpty)
        // One second step follows one first step.
        #expect(
            followed(
                first, attempt(2, at: 5, "second_factor_required"), attempt(3, at: 9, nil)) == [2])
        // What somebody else does meanwhile is nothing to it.
        #expect(
            followed(
                first, attempt(2, at: 5, "invalid_passphrase", device: "iPhone"),
                attempt(3, at: 9, nil)) == [1])
    }

    @Test func `the activity page shows wrong codes of a signed-in person`() async throws {
        let world = try await SignInWorld(["registration": "jit_on_otp", "otp_resend_delay": 0])
        let browser = PageBrowser(world)
        try await browser.signIn()
        _ = try await world.enroll(try await world.token())
        for what in ["codes", "remove"] {
            try await browser.get("/account/security")
            try await browser.submit(
                "/account/authenticator/change", [("totp", "000000"), ("what", what)])
            #expect(browser.answer?.status == .badRequest)
        }
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let refused = events.filter { $0.name == "browser.refused" }
        #expect(refused.map { $0.open["method"] } == ["email_code", "email_code"])
        #expect(refused.allSatisfy { $0.open["reason"] == "invalid_second_factor" })
        #expect(events.filter { $0.name == "totp.refused" }.count == 2, "Each is one guess.")
        try await browser.get("/account/activity")
        #expect(
            browser.page.matches(of: /Wrong authenticator code, or too many attempts/).count == 2)
    }
}
