import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An owner who signs in with a browser` {
    private let json: Headers = ["Accept": "application/json"]

    private func world(_ more: JSONObject = [:]) async throws -> FlagshipWorld {
        let world = try await FlagshipWorld(more)
        _ = try await world.onboard(try await world.certified())
        return world
    }

    private func signIn(
        _ browser: PageBrowser, _ passphrase: String = FlagshipWorld.hash,
        redirect: String = "/account/data", _ headers: Headers = [:]
    ) async throws -> Answered {
        try await browser.get("/auth/login")
        return try await browser.submit(
            "/auth/login", [("passphrase", passphrase), ("redirect", redirect)], headers)
    }

    @Test func `COZ-23: an owner signs in with the passphrase and returns to the requested page`()
        async throws
    {
        let world = try await world()
        let browser = try await world.page("/auth/login?redirect=%2Faccount%2Fdata")
        #expect(browser.value(of: "redirect") == "/account/data")
        #expect(browser.value(of: "salt") == "me@id.acme.example")
        #expect(try await signIn(browser, "wrong").status == .unauthorized)
        #expect(browser.cookies["__Host-urd"] == nil)
        let wrong = try await signIn(browser, "wrong", json)
        #expect(wrong.status == .unauthorized)
        #expect(wrong.json.object?.keys.sorted() == ["error"])
        #expect(try await signIn(browser).status == .seeOther)
        #expect(browser.place == "/account/data#")
        try await browser.get("/account/data")
        #expect(browser.answer?.status == .ok)
        // Who is signed in goes on at once.
        try await browser.get("/auth/login?redirect=%2Faccount")
        #expect(browser.place == "/account#")
        let program = PageBrowser(world.world)
        #expect(
            try await signIn(program, redirect: "https://evil.example/", json).json
                == ["redirect": "/account#"])
        #expect(program.cookies["__Host-urd"] != nil)
    }

    @Test func `COZ-23: an owner returns to whole addresses of the realm, at its own port alone`()
        async throws
    {
        let world = try await world(["links_base_url": "https://id.acme.example:8443"])
        for (asked, led) in [
            ("https://id.acme.example:8443/account/data", "/account/data#"),
            (
                "https://drive.id.acme.example:8443/?a=b#c",
                "https://drive.id.acme.example:8443/?a=b#"
            ),
            ("https://drive.id.acme.example:8444/", "/account#"),
            ("http://drive.id.acme.example:8443/", "/account#"),
            ("https://drive.id.acme.example:8443@evil.example/", "/account#"),
            ("https://id.acme.example.evil.example:8443/", "/account#"),
            ("https://evil.example:8443/", "/account#"),
        ] {
            let program = PageBrowser(world.world)
            let answer = try await signIn(program, redirect: asked, json)
            #expect(answer.json == ["redirect": .string(led)], "\(asked)")
        }
    }

    @Test func `COZ-23: an owner is not signed in by another browser's form (login CSRF)`()
        async throws
    {
        let world = try await world()
        let (victim, attacker) = (
            try await world.page("/auth/login"), try await world.page("/auth/login")
        )
        for path in [
            "/auth/login", "/auth/twofactor", "/auth/confirm", "/auth/magic_link/twofactor",
            "/auth/passphrase_reset", "/auth/passphrase_renew", "/oidc/twofactor",
        ] {
            let answer = try await victim.submit(
                path, [("passphrase", FlagshipWorld.hash)], token: attacker.token)
            #expect(answer.status == .forbidden, "\(path)")
        }
        #expect(victim.cookies["__Host-urd"] == nil)
    }

    @Test func `COZ-23: an owner types the mailed code in the browser of the passphrase`()
        async throws
    {
        let world = try await world()
        try await world.world.carryOut(DemandMailedCodes())
        let browser = PageBrowser(world.world)
        _ = try await signIn(browser)
        let place = try #require(browser.place)
        #expect(place.hasPrefix("/auth/twofactor?"))
        #expect(browser.cookies["__Host-urd"] == nil)
        try await browser.get(place)
        let token = try #require(browser.value(of: "two-factor-token"))
        let digits = try await world.mailedDigits()
        func second(
            _ browser: PageBrowser, _ digits: String, _ token: String
        ) async throws -> Answered {
            try await browser.submit(
                "/auth/twofactor",
                [
                    ("two-factor-token", token), ("two-factor-passcode", digits),
                    ("redirect", "/account/data"),
                ])
        }
        #expect(
            try await second(browser, digits == "000000" ? "1" : "000000", token).status
                == .forbidden)
        // Somebody else's browser, and no proof of the passphrase.
        let thief = try await world.page("/auth/login")
        #expect(try await second(thief, digits, token).status == .seeOther)
        #expect(thief.place?.hasPrefix("/auth/login") == true)
        try await browser.get(place)
        #expect(try await second(browser, digits, "x").status == .seeOther)
        #expect(browser.cookies["__Host-urd"] == nil)
        try await browser.get(place)
        #expect(try await second(browser, digits, token).status == .seeOther)
        #expect(browser.place == "/account/data#")
        #expect(browser.cookies["__Host-urd"] != nil)
    }

    @Test func `a browser at the first page or the devices gets a page, a program gets JSON`()
        async throws
    {
        let world = try await world()
        let browser = PageBrowser(world.world)
        browser.headers["Accept"] = "text/html"
        try await browser.get("/")
        #expect(browser.answer?.status == .ok && browser.shows("passphrase-form"))
        _ = try await signIn(browser)
        try await browser.get("/")
        #expect(browser.place == "/account#")
        try await browser.get("/settings/clients")
        #expect(browser.place == "/account/sessions")
        let program = PageBrowser(world.world)
        for accept in ["application/json", "*/*"] {
            program.headers["Accept"] = accept
            try await program.get("/settings/clients")
            #expect(program.answer?.json["error"] == "No token in request")
        }
    }

    @Test func `COZ-23: a login before the realm has an owner finds nobody`() async throws {
        let world = try await FlagshipWorld()
        let browser = try await world.page("/auth/login")
        #expect(browser.shows("This space hasn&#39;t been set up yet"))
        try await browser.submit("/auth/login", [("passphrase", FlagshipWorld.hash)])
        #expect(browser.cookies["__Host-urd"] == nil)
    }

    @Test func `COZ-23: an owner confirms their identity for five minutes in one browser`()
        async throws
    {
        let world = try await world()
        let browser = PageBrowser(world.world)
        _ = try await signIn(browser)
        try await browser.get("/auth/confirm?state=s%201&redirect=%2Faccount%2Fdata")
        func confirm(_ passphrase: String, _ more: Headers = [:]) async throws -> Answered {
            try await browser.get("/auth/confirm?state=s%201&redirect=%2Faccount%2Fdata")
            return try await browser.submit(
                "/auth/confirm",
                [
                    ("passphrase", passphrase), ("state", "s 1"), ("redirect", "/account/data"),
                ], more)
        }
        #expect(try await confirm("wrong").status == .unauthorized)
        #expect(try await confirm("wrong", json).json["error"] != nil)
        #expect(try await confirm(FlagshipWorld.hash).status == .seeOther)
        let place = try #require(browser.place)
        #expect(place.hasPrefix("/account/data?code=") && place.hasSuffix("&state=s+1"))
        let code = try #require(place.split(separator: "=")[1].split(separator: "&").first)
        #expect(try await browser.get("/auth/confirm/\(code)").status == .noContent)
        #expect(try await browser.get("/auth/confirm/x").status == .unauthorized)
        let other = PageBrowser(world.world)
        _ = try await signIn(other)
        #expect(try await other.get("/auth/confirm/\(code)").status == .unauthorized)
        world.world.clock.advance(seconds: 300)
        #expect(try await browser.get("/auth/confirm/\(code)").status == .unauthorized)
    }

    @Test func `COZ-23: an owner signs browsers out from a page of this site alone`() async throws {
        let world = try await world()
        let (one, two) = (PageBrowser(world.world), PageBrowser(world.world))
        _ = try await signIn(one)
        _ = try await signIn(two)
        func delete(_ path: String, _ browser: PageBrowser, _ more: Headers = [:]) async -> Status {
            var headers: Headers = ["Host": "id.acme.example"]
            headers["Cookie"] = browser.cookies.map { "\($0.key)=\($0.value)" }
                .sorted().joined(separator: "; ")
            for (name, value) in more { headers[name] = value }
            return await world.world.router.respond(
                to: Request(
                    method: .delete, path: path, query: nil, headers: headers, body: [],
                    source: "203.0.113.7", id: "r")
            ).status
        }
        let token = try #require(
            try await world.login(try await world.certified("Tablet")).json["access_token"]?.string)
        func count() async throws -> Int? {
            try await world.send(.get, "/settings/sessions", bearer: token)
                .json["data"]?.array?.count
        }
        #expect(try await count() == 2)
        #expect(try await world.send(.get, "/settings/sessions").status == .unauthorized)
        #expect(try await two.get("/settings/sessions/current").status == .ok)
        for foreign: Headers in [
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
            ["Origin": "https://evil.example"],
        ] {
            #expect(await delete("/auth/login/others", one, foreign) == .unauthorized)
        }
        #expect(await delete("/auth/login", PageBrowser(world.world)) == .unauthorized)
        #expect(await delete("/auth/login/others", one) == .noContent)
        #expect(try await count() == 1)
        #expect(try await two.get("/account").status == .seeOther)
        #expect(await delete("/auth/login", one) == .noContent)
        #expect(try await count() == 0)
        #expect(try await one.get("/settings/sessions/current").status == .unauthorized)
    }
}
