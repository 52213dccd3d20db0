import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The code page of a joining person` {
    private func joining(
        _ more: JSONObject = [:]
    ) async throws -> (PageBrowser, SignInWorld) {
        let settings: JSONObject = ["registration": "explicit_endpoint"]
        let world = try await SignInWorld(settings.merging(more) { $1 })
        return (PageBrowser(world), world)
    }

    private func mailed(_ world: SignInWorld) async throws -> Int {
        try await world.events().filter { $0 == "otp.issued" }.count
    }

    @Test func `the joining person's code page offers a new code for the same names`() async throws
    {
        let (browser, world) = try await joining(["registration_first_name": "required"])
        try await browser.get("/register?continue=sealed")
        try await browser.submit(
            "/register",
            browser.returnTarget + [
                ("email", "ann@example.org"), ("first_name", "Zoë Bartholomew"),
            ])
        let place = try #require(browser.place)
        #expect(!place.contains("Bartholomew"))
        for _ in 0..<2 {
            try await browser.get(place)
            #expect(browser.shows("name=\"code\"") && browser.shows("Send a new code"))
        }
        try await browser.submit(place, [("email", "ann@example.org"), ("code", "000000")])
        #expect(browser.shows("That code is wrong") && browser.shows("Send a new code"))
        func again(_ language: String) async throws {
            browser.headers["Accept-Language"] = language
            #expect(browser.shows(#"action="/register?continue=sealed""#))
            let name = try #require(browser.value(of: "first_name"))
            try await browser.submit(
                "/register",
                browser.returnTarget + [
                    ("email", "ann@example.org"),
                    ("first_name", name),
                    ("to", try #require(browser.value(of: "to"))),
                ])
            #expect(browser.place?.hasPrefix("/login/code?continue=sealed&to=") == true)
            try await browser.follow()
        }
        try await again("en")
        #expect(browser.shows("a moment ago") && browser.shows("for another in "))
        try await again("de")
        #expect(browser.shows("gerade schon") && browser.shows("Neuen Code senden"))
        #expect(try await mailed(world) == 1)
        world.clock.advance(seconds: 122)
        try await again("en")
        #expect(!browser.shows("a moment ago"))
        #expect(try await mailed(world) == 2)
        try await browser.submit(
            "/login/code",
            browser.returnTarget + [
                ("email", "ann@example.org"), ("code", try await browser.code()),
            ])
        #expect(browser.place == "/connect/authorize?continue=sealed")
        let registered = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .filter { $0.name == "account.registered" }
        #expect(registered.count == 1)
        guard case .opened(let person) = registered.first?.personal else {
            Issue.record("nobody is named")
            return
        }
        #expect(person["first_name"] == "Zoë Bartholomew")
    }

    @Test
    func `the joining person's code page is the same whether the address has an account or not`()
        async throws
    {
        let (browser, world) = try await joining()
        try await world.carryOut(
            RegisterAccount(
                account: UUID.random(),
                addresses: Addresses(mailbox: world.mint.mailbox("bea@example.org")),
                person: Person(email: "bea@example.org"), isConfirmed: true))
        var pages: [[String]] = []
        for email in ["nobody@example.org", "bea@example.org"] {
            try await browser.get("/register")
            try await browser.submit("/register", [("email", email)])
            try await browser.follow()
            var seen = [browser.pageUnsealed]
            for seconds in [60, 122] as [Int64] {
                world.clock.advance(seconds: seconds)
                try await browser.submit(
                    "/register",
                    [("email", email), ("to", try #require(browser.value(of: "to")))])
                try await browser.follow()
                seen.append(browser.pageUnsealed)
            }
            pages.append(seen.map { $0.replacing(email, with: "ann@example.org") })
        }
        #expect(pages.first == pages.last)
        #expect(try await mailed(world) == 4)
    }

    @Test(arguments: [true, false])
    func `the joining person's account gets the names of their own browser, not of others`(
        _ isStrangerFirst: Bool
    ) async throws {
        let (browser, world) = try await joining()
        let stranger = PageBrowser(world)
        let (ann, mallory) = ((browser, "Ann"), (stranger, "Mallory"))
        for (browser, name) in isStrangerFirst ? [mallory, ann] : [ann, mallory] {
            try await browser.get("/register")
            try await browser.submit(
                "/register", [("email", "ann@example.org"), ("first_name", name)])
            try await browser.follow()
        }
        #expect(try await mailed(world) == 1)
        try await browser.submit(
            "/login/code?to=\(try #require(browser.value(of: "to")))",
            [("email", "ann@example.org"), ("code", try await browser.code())])
        #expect(browser.place == "/account")
        let registered = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .first { $0.name == "account.registered" }
        guard case .opened(let person) = registered?.personal else {
            Issue.record("nobody is named")
            return
        }
        #expect(person["first_name"] == "Ann")
    }

    @Test func `a joining person's code arrives although others guess at or move to the address`()
        async throws
    {
        let world = try await SignInWorld()
        let (browser, stranger) = (PageBrowser(world), PageBrowser(world))
        try await stranger.signIn("mallory@example.org")
        try await stranger.get("/account/data")
        try await stranger.submit("/account/email", [("email", "ann@example.org")])
        let place = try #require(stranger.place)
        let code = try await browser.code()
        for guess in 0..<20 {
            try await stranger.get(place)
            try await stranger.submit(
                place, [("email", "ann@example.org"), ("code", code == "000000" ? "1" : "000000")])
            #expect(
                stranger.answer?.status == (guess < 15 ? .badRequest : .tooManyRequests),
                "\(guess)")
        }
        try await browser.signIn("ann@example.org")
        #expect(try await world.events().filter { $0 == "account.registered" }.count == 2)
    }

    @Test func `the joining person's code page takes the longest names`() async throws {
        let (browser, _) = try await joining()
        let name = String(repeating: "𝒵", count: 100)
        let email =
            String(repeating: "a", count: 60) + "@" + String(repeating: "b.", count: 90) + "example"
        try await browser.get("/register")
        try await browser.submit(
            "/register", [("email", email), ("first_name", name), ("last_name", name)])
        try await browser.follow()
        #expect(browser.answer?.status == .ok && browser.value(of: "last_name") == name)
    }
}
