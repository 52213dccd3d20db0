import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The devices of an owner` {
    private func usage(_ world: FlagshipWorld, _ access: String) async throws -> JSON? {
        try await world.send(.get, "/settings/clients-usage", bearer: access)
            .json["data"]?["attributes"]
    }

    @Test func `COZ-23: an owner's devices count against the realm's limit`() async throws {
        let world = try await FlagshipWorld(["installation_limit": 2])
        let (_, access) = try await world.owned()
        #expect(
            try await usage(world, access)
                == ["count": 1, "limit": 2, "limitReached": false, "limitExceeded": false])
        let second = try await world.certified("Second")
        #expect(try await world.login(second).status == .ok)
        #expect(
            try await usage(world, access)
                == ["count": 2, "limit": 2, "limitReached": true, "limitExceeded": false])
        try await world.set(["installation_limit": 1])
        #expect(
            try await usage(world, access)
                == ["count": 2, "limit": 1, "limitReached": true, "limitExceeded": true])
        // Those that are in stay in.
        #expect(try await world.login(second).status == .ok)
        try await world.set(["installation_limit": 0])
        #expect(
            try await usage(world, access)
                == ["count": 2, "limitReached": false, "limitExceeded": false])
    }

    @Test func `COZ-23: a device at the limit is admitted on a page after another was removed`()
        async throws
    {
        let world = try await FlagshipWorld(["installation_limit": 1])
        let (first, _) = try await world.owned()
        let late = try await world.certified("Late")
        let answer = try await world.login(late)
        #expect(answer.status == .accepted)
        let code = try #require(answer.json["session_code"]?.string)
        let request = InstallationRequest(app: late)
        let browser = try await world.browser(code, at: request.place)
        try await browser.follow()
        #expect(browser.shows("Too many devices"))
        #expect(browser.shows("Phone"))
        #expect(browser.shows("App Attest"))
        let forced = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")])
        #expect(forced.status == .seeOther)
        #expect(forced.response.headers["Location"] == request.place)
        try await browser.follow()
        let next = try #require(browser.value(of: "next"))
        #expect(next.replacing("&amp;", with: "&") == request.place)
        try await browser.submit(
            "/account/devices/remove", [("client", first.id), ("next", request.place)])
        #expect(browser.place == request.place)
        try await browser.follow()
        let allowed = try await browser.submit(
            "/auth/authorize", request.pairs + [("decision", "allow")])
        #expect(allowed.status == .found)
        let given = try FlagshipWorld.code(in: allowed.response.headers["Location"])
        #expect(try await world.redeem(late, given).json["scope"] == "*")
        #expect(
            try await world.login(first).json["error"] == "the client must be registered")
        #expect(try await world.happened("owner.device_added").count == 2)
        #expect(try await world.happened("owner.device_removed").count == 1)
    }

    @Test func `COZ-23: fifty devices admitted at once never pass the limit`() async throws {
        let world = try await FlagshipWorld(["installation_limit": 3])
        let (_, access) = try await world.owned()
        var apps: [TestInstallation] = []
        for number in 0..<50 { apps.append(try await world.register("App \(number)")) }
        let codes = try await withThrowingTaskGroup(of: Status.self) { group in
            for app in apps { group.addTask { try await world.login(app).status } }
            return try await group.reduce(into: [Status]()) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == .accepted })
        #expect(try await usage(world, access)?["count"] == 3)
        #expect(try await world.happened("client.adopted").count == 3)
    }

    @Test func `COZ-23: a code is not redeemed by a device over the limit`() async throws {
        let world = try await FlagshipWorld(["installation_limit": 2])
        let (_, access) = try await world.owned()
        let (one, two) = (try await world.certified("One"), try await world.certified("Two"))
        var browsers: [(PageBrowser, InstallationRequest)] = []
        for app in [one, two] {
            let request = InstallationRequest(app: app)
            let browser = try await world.browser(
                try await world.sessionCodeText(access), at: request.place)
            try await browser.follow()
            #expect(browser.shows("Allow \(app.id == one.id ? "One" : "Two")?"))
            browsers.append((browser, request))
        }
        var links: [String] = []
        for (browser, request) in browsers {
            let decided = try await browser.submit(
                "/auth/authorize", request.pairs + [("decision", "allow")])
            links.append(try #require(decided.response.headers["Location"]))
        }
        #expect(
            try await world.redeem(one, try FlagshipWorld.code(in: links[0])).status == .ok)
        // The other one is asked about again, on a page that says that there are enough.
        #expect(links[1] == browsers[1].1.place)
        try await browsers[1].0.follow()
        #expect(!browsers[1].0.shows("Allow Two?"))
    }

    @Test func `COZ-23: the page at the device limit leads back to known places alone`()
        async throws
    {
        let world = try await FlagshipWorld(["installation_limit": 1])
        let (_, access) = try await world.owned()
        try await world.add(["kind": "app", "slug": "home", "name": "Home"])
        try await world.add([
            "kind": "app", "slug": "far", "name": "Far", "origin": "https://far.example:8443",
        ])
        let page = "/settings/clients/limit-exceeded"
        let browser = world.browser()
        try await browser.get(page)
        let whole = "http://id.acme.example\(page)"
        #expect(browser.place == "/auth/login?\(Form.encode([("redirect", whole)]))")
        try await browser.get("\(page)?session_code=\(try await world.sessionCodeText(access))")
        #expect(browser.place == page)
        for (asked, led) in [
            ("http://home.id.acme.example/", "http://home.id.acme.example/"),
            ("http://home.id.acme.example/#/a", "http://home.id.acme.example/#/a"),
            ("https://far.example:8443/x?y=1", "https://far.example:8443/x?y=1"),
            ("http://id.acme.example/account", "http://id.acme.example/account"),
            ("https://evil.example/", nil), ("https://far.example/", nil),
            ("https://far.example:8443@evil.example/", nil), ("javascript:alert(1)", nil),
            ("//evil.example", nil), ("https://home.id.acme.example/", nil),
            ("https://home.id.acme.example.evil.example/", nil),
            ("http://bank.id.acme.example/", nil), ("https://id.acme.example@evil.example/", nil),
        ] as [(String, String?)] {
            try await browser.get("\(page)?\(Form.encode([("redirect", asked)]))")
            #expect(browser.place == led ?? "/account/sessions", "\(asked)")
        }
        try await world.set(["installation_limit": 2])
        #expect(try await world.login(try await world.certified("Two")).status == .ok)
        try await world.set(["installation_limit": 1])
        let place = "\(page)?\(Form.encode([("redirect", "http://home.id.acme.example/")]))"
        try await browser.get(place)
        #expect(browser.shows("Too many devices"))
        // Not the one that opened this web view, which would be signed out.
        let listed = browser.page.matches(of: /name="client" value="([^"]+)"/)
        let client = String(try #require(listed.last).1)
        try await browser.submit(
            "/account/devices/remove", [("client", client), ("next", place)])
        #expect(browser.place == place)
        try await browser.follow()
        #expect(browser.place == "http://home.id.acme.example/")
        // Another place than these two is not gone on to.
        for next in ["https://evil.example/", "//evil.example", "/connect/authorize"] {
            try await browser.get("/account/sessions")
            try await browser.submit("/account/devices/remove", [("client", "x"), ("next", next)])
            #expect(browser.place == "/account/sessions?done=access-removed")
        }
    }

    @Test func `COZ-23: an owner's devices are listed with their last activity`() async throws {
        let world = try await FlagshipWorld()
        let (app, access) = try await world.owned()
        func listed() async throws -> JSONObject {
            let list = try await world.send(.get, "/settings/clients", bearer: access)
            return try #require(list.json["data"]?.array?.first?["attributes"]?.object)
        }
        let before = try await listed()
        #expect(before["certified_at"]?.string != nil)
        #expect(before["synchronized_at"] == nil)
        let used = try #require(before["last_refreshed_at"]?.string)
        let mark = { try await world.send(.post, "/settings/synchronized", bearer: access).status }
        #expect(try await mark() == .noContent)
        #expect(try await mark() == .noContent)
        #expect(try await world.happened("installation.synchronized").count == 1)
        world.world.clock.advance(seconds: 61)
        #expect(try await mark() == .noContent)
        #expect(try await world.happened("installation.synchronized").count == 2)
        let refresh = try #require(try await world.login(app).json["refresh_token"]?.string)
        world.world.clock.advance(seconds: 100)
        #expect(try await world.refresh(app, refresh).status == .ok)
        let after = try await listed()
        #expect(after["synchronized_at"]?.string != nil)
        #expect(try #require(after["last_refreshed_at"]?.string) > used)
    }

    @Test func `COZ-23: an owner is mailed when a device is admitted and when it is certified`()
        async throws
    {
        let world = try await FlagshipWorld()
        _ = try await world.owned()
        func orders() async throws -> [MailOrder] {
            let events = try await world.world.log.events(
                from: 1, limit: .max, in: world.world.realm)
            return events.filter { ["owner.device_added", "client.certified"].contains($0.name) }
                .compactMap { API.mails.order(for: $0, world.world.mint) }
        }
        // The first one is his own doing, and what nobody let in is nobody's business.
        _ = try await world.certified("Stranger")
        #expect(try await orders().isEmpty)
        let app = try await world.register("Late")
        #expect(try await world.login(app).status == .accepted)
        #expect(try await orders().count == 1)
        let device = try AppleDevice(world.apple)
        let answer = try await world.attest(
            app, device.attestation(try await world.challenge(app)).json)
        #expect(answer.status == .noContent)
        let found = try await orders()
        #expect(found.map(\.account) == [world.account, world.account])
        let kinds = found.map { "\($0.kind)" }
        #expect(kinds.first?.hasPrefix("deviceAdded(device: \"Late\"") == true)
        #expect(kinds.last?.hasPrefix("deviceCertified(device: \"Late\"") == true)
    }

    @Test func `COZ-23: an owner's page lists devices with how each was certified`() async throws {
        let world = try await FlagshipWorld()
        let (app, access) = try await world.owned()
        _ = try await world.login(try await world.register("Plain phone"))
        let browser = world.browser()
        let code = try await world.sessionCodeText(access)
        try await browser.get("/apps/x/start")
        try await world.add(["kind": "app", "slug": "home", "name": "Home"])
        try await browser.get("/apps/home/start?session_code=\(code)")
        try await browser.get("/account/sessions")
        for text in ["Your devices", "Verified by Apple", "Plain phone", "Not verified"] {
            #expect(browser.shows(text), "\(text)")
        }
        try await browser.submit("/account/devices/remove", [("client", app.id)])
        #expect(browser.place == "/account/sessions?done=access-removed")
        #expect(try await world.sessionCode(access).status == .badRequest)
        let stranger = world.browser()
        try await stranger.get("/login")
        try await stranger.submit("/account/devices/remove", [("client", app.id)])
        #expect(stranger.place?.hasPrefix("/auth/login") == true)
    }

    @Test func `COZ-25: devices are admitted by default where only the address is known`()
        async throws
    {
        // No store, no keys, no apps: what an owner has is his mailbox.
        let world = try await FlagshipWorld([
            "certified_apps": [], "app_attest_roots": [], "native_apps": [],
        ])
        let app = try await world.register("Own phone")
        let device = try AppleDevice(world.apple)
        let refused = try await world.attest(
            app, device.attestation(try await world.challenge(app)).json)
        #expect(refused.status == .badRequest)
        let code = try #require(try await world.onboard(app).json["session_code"]?.string)
        #expect(try await world.send(.get, "/public/prelogin").status == .ok)
        let request = InstallationRequest(app: app)
        let browser = try await world.browser(code, at: request.place)
        try await browser.follow()
        let certified = try await browser.submit(
            "/auth/clients/\(app.id)/flagship",
            [
                ("token", browser.value(of: "token") ?? ""), ("next", request.place),
                ("code", try await world.mailedDigits()),
            ])
        #expect(certified.status == .seeOther)
        // It was there when he took the realm over.
        try await browser.follow()
        #expect(browser.answer?.status == .found)
        let given = try FlagshipWorld.code(in: browser.answer?.response.headers["Location"])
        let access = try #require(
            try await world.redeem(app, given).json["access_token"]?.string)
        try await world.add(FlagshipWorld.drive)
        #expect(try await world.open("drive", access).status == .ok)
        #expect(try await usage(world, access)?["limit"] == nil)
    }
}
