import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An owner's own browser` {
    private let json: Headers = ["Accept": "application/json"]

    private func world() async throws -> (FlagshipWorld, TestInstallation) {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        _ = try await world.onboard(app)
        return (world, app)
    }

    private func signIn(
        _ browser: PageBrowser, _ more: [(name: String, value: String)] = []
    ) async throws -> Answered {
        try await browser.get("/auth/login")
        return try await browser.submit(
            "/auth/login", [("passphrase", FlagshipWorld.hash), ("redirect", "/account")] + more)
    }

    /// Types the mailed code as well.
    private func second(
        _ world: FlagshipWorld, _ browser: PageBrowser,
        _ more: [(name: String, value: String)] = [], _ headers: Headers = [:]
    ) async throws -> Answered {
        try await browser.follow()
        let token = try #require(browser.value(of: "two-factor-token"))
        return try await browser.submit(
            "/auth/twofactor",
            [
                ("two-factor-token", token),
                ("two-factor-passcode", try await world.mailedDigits()),
                ("redirect", "/account"),
            ] + more, headers)
    }

    private func age(_ answer: Answered) -> Int? {
        let line = answer.response.headers.all("Set-Cookie").first {
            $0.hasPrefix("__Host-urd=")
        }
        let part = line?.split(separator: ";").first { $0.hasPrefix(" Max-Age=") }
        return part.flatMap { Int($0.dropFirst(" Max-Age=".count)) }
    }

    @Test func `COZ-23: an owner's own browser stays signed in longer where the owner marks it`()
        async throws
    {
        let (world, _) = try await world()
        let usual = try #require(age(try await signIn(PageBrowser(world.world))))
        #expect(usual <= 90 * 86_400)
        let browser = PageBrowser(world.world)
        #expect(age(try await signIn(browser, [("long-run-session", "true")])) == 315_360_000)
        #expect(try await world.happened("browser.opened").last?.open["long_run"] == true)
        world.world.clock.advance(seconds: 365 * 86_400)
        try await browser.get("/account")
        #expect(browser.answer?.status == .ok)
    }

    @Test func `COZ-23: an owner's own browser stays signed in longer after a mailed code too`()
        async throws
    {
        let (world, _) = try await world()
        try await world.world.carryOut(DemandMailedCodes())
        let browser = PageBrowser(world.world)
        _ = try await signIn(browser, [("long-run-session", "1")])
        try await browser.follow()
        #expect(browser.value(of: "long-run-session") == "true")
        try await browser.get(try #require(await asked(world, browser)))
        let answer = try await browser.submit(
            "/auth/twofactor",
            [
                ("two-factor-token", browser.value(of: "two-factor-token") ?? ""),
                ("two-factor-passcode", try await world.mailedDigits()),
                ("long-run-session", "true"),
            ])
        #expect(age(answer) == 315_360_000)
    }

    private func asked(_ world: FlagshipWorld, _ browser: PageBrowser) async throws -> String? {
        _ = try await signIn(browser, [("long-run-session", "1")])
        return browser.place
    }

    @Test func `COZ-15: a trusted browser is not asked for a mailed code for thirty days`()
        async throws
    {
        let (world, app) = try await world()
        try await world.world.carryOut(DemandMailedCodes())
        let browser = PageBrowser(world.world)
        _ = try await signIn(browser)
        let trusting = [(name: "two-factor-generate-trusted-device-token", value: "true")]
        let answer = try await second(world, browser, trusting, json)
        let token = try #require(answer.json["two_factor_trusted_device_token"]?.string)
        #expect(browser.cookies["__Host-urd-trust"] == token)
        func isAsked(_ more: [(name: String, value: String)], _ kept: String? = nil) async throws
            -> Bool
        {
            let fresh = PageBrowser(world.world)
            fresh.cookies["__Host-urd-trust"] = kept
            _ = try await signIn(fresh, more)
            #expect((fresh.cookies["__Host-urd"] == nil) == (fresh.place != "/account#"))
            return fresh.place?.hasPrefix("/auth/twofactor") == true
        }
        // In the form or as a cookie.
        #expect(try await !isAsked([("trusted-device-token", token)]))
        #expect(try await !isAsked([], token))
        #expect(try await isAsked([]))
        #expect(try await isAsked([("trusted-device-token", "x")]))
        #expect(try await isAsked([("trusted-device-token", String(token.reversed()))]))
        // It is no passphrase.
        let thief = PageBrowser(world.world)
        try await thief.get("/auth/login")
        let wrong = try await thief.submit(
            "/auth/login", [("passphrase", "x"), ("trusted-device-token", token)])
        #expect(wrong.status == .unauthorized)
        // An app is asked all the same: it has no browser.
        let asked = try await world.login(
            app, FlagshipWorld.hash, ["trusted-device-token": .string(token)])
        #expect(asked.status == .unauthorized)
        world.world.clock.advance(seconds: 30 * 86_400)
        #expect(try await isAsked([("trusted-device-token", token)]))
    }

    @Test func `COZ-15: a trusted browser is asked for a code again after a change of passphrase`()
        async throws
    {
        let (world, app) = try await world()
        let access = try await world.login(app).json["access_token"]?.string
        try await world.world.carryOut(DemandMailedCodes())
        let browser = PageBrowser(world.world)
        _ = try await signIn(browser)
        let answer = try await second(
            world, browser, [("two-factor-generate-trusted-device-token", "true")], json)
        let token = try #require(answer.json["two_factor_trusted_device_token"]?.string)
        let next = "what the device made of another one"
        var change: JSONObject = [
            "current_passphrase": .string(FlagshipWorld.hash), "new_passphrase": .string(next),
            "iterations": 100_000,
        ]
        let first = try await world.send(
            .put, "/settings/passphrase", json: .object(change), bearer: access)
        change["two_factor_token"] = first.json["two_factor_token"]
        change["two_factor_passcode"] = .string(try await world.mailedDigits())
        #expect(
            try await world.send(
                .put, "/settings/passphrase", json: .object(change), bearer: access
            ).status == .noContent)
        let fresh = PageBrowser(world.world)
        try await fresh.get("/auth/login")
        try await fresh.submit(
            "/auth/login", [("passphrase", next), ("trusted-device-token", token)])
        #expect(fresh.place?.hasPrefix("/auth/twofactor") == true)
    }

    @Test func `COZ-14: a certified app with proof of a read mail needs no mailed code`()
        async throws
    {
        let (world, app) = try await world()
        try await world.world.carryOut(DemandMailedCodes())
        let id = UUID.random()
        try await world.world.carryOut(
            VouchForMailbox(code: id, now: world.world.clock.next()))
        let code = world.world.mint.emailVerifiedCode(id)
        func login(_ code: String) async throws -> Status {
            try await world.login(
                app, FlagshipWorld.hash, ["email_verified_code": .string(code)]
            ).status
        }
        #expect(try await login(code) == .ok)
        #expect(try await login(code) == .ok)
        #expect(try await login("x") == .unauthorized)
        #expect(try await login(world.world.mint.emailVerifiedCode(.random())) == .unauthorized)
        let wrong = try await world.login(
            app, "wrong", ["email_verified_code": .string(code)])
        #expect(wrong.status == .unauthorized)
        let browser = PageBrowser(world.world)
        _ = try await signIn(browser, [("email_verified_code", code)])
        #expect(browser.place == "/account#")
        world.world.clock.advance(seconds: VouchForMailbox.lifetime)
        #expect(try await login(code) == .unauthorized)
    }
}
