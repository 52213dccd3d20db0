import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The host of a web app` {
    private let host = "drive.id.acme.example"

    @Test func `COZ-19: a web app's host takes a session code once and keeps the query`()
        async throws
    {
        let world = try await FlagshipWorld()
        let drive = try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let code = try await world.sessionCodeText(access)
        let browser = world.browser(at: host)
        try await browser.get("/?folder=a%26b&session_code=\(code)&sort=1")
        #expect(browser.place == "/?folder=a%26b&sort=1")
        #expect(browser.cookies["__Host-urd"] != nil)
        try await browser.follow()
        #expect(browser.answer?.status == .ok)
        #expect(browser.shows("Drive"))
        let opened = try #require(try await world.happened("browser.opened").last)
        #expect(opened.open["web_app"] == .string(drive.description))
        let lasting =
            (opened.open["expires_at"]?.integer ?? 0) - (opened.open["opened_at"]?.integer ?? 0)
        #expect(lasting == 14 * 86_400)
        let thief = world.browser(at: host)
        try await thief.get("/?session_code=\(code)")
        #expect(thief.place == "/")
        #expect(thief.cookies["__Host-urd"] == nil)
        for bad in ["x", String(repeating: "A", count: 32)] {
            try await thief.get("/?session_code=\(bad)")
            #expect(thief.cookies["__Host-urd"] == nil)
        }
    }

    @Test func `COZ-19: a session code used fifty times at once at a web app signs in once`()
        async throws
    {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let query = "session_code=\(try await world.sessionCodeText(access))"
        let router = world.world.router
        let cookies = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let answer = await router.respond(
                        to: Request(
                            method: .get, path: "/", query: query,
                            headers: ["Host": "drive.id.acme.example"], body: [],
                            source: "203.0.113.7", id: "r"))
                    return answer.headers.all("Set-Cookie").count { $0.hasPrefix("__Host-urd=") }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(cookies == 1)
        #expect(try await world.happened("browser.opened").count == 1)
    }

    /// Whoever serves an app's pages runs scripts at that place: nothing of the realm is in reach there.
    @Test func `a web app's host serves no other page of the realm`() async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let browser = world.browser(at: host)
        try await browser.get("/?session_code=\(try await world.sessionCodeText(access))")
        for path in [
            "/login", "/account", "/account/sessions", "/auth/authorize", "/connect/authorize",
            "/settings/clients", "/settings/flags", "/apps/drive/open", "/apps/drive/start",
            "/accounts/bank/start", "/.well-known/openid-configuration", "/connect/userinfo",
        ] {
            try await browser.get(path)
            #expect(browser.answer?.status == .notFound, "\(path)")
        }
        // The app that asks which realm this is takes the label off on this status alone.
        try await browser.get("/public/prelogin")
        #expect(browser.answer?.status == .unauthorized)
        #expect(browser.answer?.json == ["error": "Not authorized"])
        try await browser.get(AssetRoutes.sheetPath)
        #expect(browser.answer?.status == .ok)
        // What its cookie holds is worth nothing where people sign in.
        let elsewhere = world.browser()
        elsewhere.cookies = browser.cookies
        try await elsewhere.get("/account")
        #expect(elsewhere.place?.hasPrefix("/login") == true)
    }

    @Test func `a host without an app serves nothing`() async throws {
        let world = try await FlagshipWorld()
        let drive = try await world.add(FlagshipWorld.drive)
        try await world.add(FlagshipWorld.bank)
        for other in ["bank.id.acme.example", "x.id.acme.example", "a.drive.id.acme.example"] {
            let browser = world.browser(at: other)
            try await browser.get("/")
            #expect(browser.answer?.status == .notFound, "\(other)")
        }
        try await world.remove(drive)
        let browser = world.browser(at: host)
        try await browser.get("/")
        #expect(browser.answer?.status == .notFound)
        // The welcome stands where it stood.
        let own = world.browser()
        try await own.get("/apps/index")
        #expect(own.answer?.status == .notFound)
    }

    @Test func `a web app's host admits an owner from the page where they signed in`() async throws
    {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let there = world.browser(at: host)
        try await there.get("/")
        let page = "/auth/login?redirect=http%3A%2F%2Fdrive.id.acme.example%2F"
        #expect(there.place == "http://id.acme.example\(page)")
        let own = world.browser()
        try await own.get("/apps/drive/start")
        #expect(own.place == page)
        try await own.get(
            "/apps/drive/start?session_code=\(try await world.sessionCodeText(access))")
        #expect(own.place == "/apps/drive/start")
        try await own.follow()
        let place = try #require(own.place)
        let sign = "http://drive.id.acme.example/?session_code="
        #expect(place.hasPrefix(sign))
        let code = String(place.dropFirst(sign.count))
        // The code is for this app alone.
        try await world.add(["kind": "app", "slug": "notes", "name": "Notes"])
        for other in ["notes.id.acme.example", "id.acme.example"] {
            let thief = world.browser(at: other)
            try await thief.get(
                other == "id.acme.example"
                    ? "/apps/drive/start?session_code=\(code)" : "/?session_code=\(code)")
            #expect(thief.cookies["__Host-urd"] == nil, "\(other)")
        }
        try await there.get("/?session_code=\(code)")
        try await there.follow()
        #expect(there.answer?.status == .ok)
        // It is soon over.
        try await own.get("/apps/drive/start")
        let late = String(try #require(own.place).dropFirst(sign.count))
        world.world.clock.advance(seconds: 60)
        let thief = world.browser(at: host)
        try await thief.get("/?session_code=\(late)")
        #expect(thief.cookies["__Host-urd"] == nil)
    }

    @Test func `COZ-19: a web app's page is reached again from the owner's login`() async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let there = world.browser(at: host)
        try await there.get("/?folder=a%26b&sort=1")
        let login = try #require(there.place?.placeOnSite)
        #expect(login.hasPrefix("/auth/login?redirect=http%3A%2F%2Fdrive.id.acme.example%2F%3F"))
        let own = world.browser()
        try await own.get(login)
        #expect(own.answer?.status == .ok && own.shows("passphrase-form"))
        try await own.get(
            "/apps/drive/start?session_code=\(try await world.sessionCodeText(access))")
        try await own.get(login)
        let back = try #require(own.place)
        #expect(
            back.hasPrefix("http://drive.id.acme.example/?folder=a%26b&sort=1&session_code="))
        try await there.get(back.placeOnSite)
        #expect(there.place == "/?folder=a%26b&sort=1")
        try await there.follow()
        #expect(there.answer?.status == .ok && there.shows("Drive"))
        // Elsewhere nobody gets a code.
        for other in [
            "http://nothing.id.acme.example/", "http://bank.id.acme.example/",
            "https://drive.id.acme.example/", "http://a.drive.id.acme.example/",
        ] {
            try await own.get("/auth/login?\(Form.encode([("redirect", other)]))")
            #expect(own.place == "\(other)#")
        }
        #expect(try await world.happened("session_code.issued").count == 2)
    }

    @Test func `a web app's host is its configured origin, where it has one`() async throws {
        let world = try await FlagshipWorld()
        world.world.directory.change(.system) { $0.hosts["mail.example"] = world.world.realm }
        try await world.add([
            "kind": "app", "slug": "mail", "name": "Mail", "origin": "https://mail.example",
        ])
        try await world.add([
            "kind": "app", "slug": "far", "name": "Far", "origin": "https://far.example",
        ])
        let (_, access) = try await world.owned()
        let code = try await world.sessionCodeText(access)
        let browser = world.browser(at: "mail.example")
        try await browser.get("/")
        #expect(browser.answer?.status == .forbidden)
        try await browser.get("/?session_code=\(code)")
        #expect(browser.place == "/")
        try await browser.follow()
        #expect(browser.answer?.status == .ok)
        try await browser.get("/account")
        #expect(browser.answer?.status == .notFound)
        // Pages that are elsewhere are reached by where people sign in.
        let far = world.browser(at: "far.id.acme.example")
        let other = try await world.sessionCodeText(access)
        try await far.get("/?session_code=\(other)")
        #expect(
            far.place == "http://id.acme.example/apps/far/start?session_code=\(other)")
        #expect(far.cookies["__Host-urd"] == nil)
        let own = world.browser()
        try await own.get("/apps/far/start?session_code=\(other)")
        try await own.follow()
        #expect(own.place == "https://far.example/")
        try await own.get("/account")
        #expect(own.answer?.status == .ok)
    }

    @Test func `a web app's host refuses the session of a deleted account`() async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        let (_, access) = try await world.owned()
        let code = try await world.sessionCodeText(access)
        let browser = world.browser(at: host)
        try await browser.get("/?session_code=\(try await world.sessionCodeText(access))")
        try await world.world.carryOut(AccountChange.disable(world.account))
        let late = world.browser(at: host)
        try await late.get("/?session_code=\(code)")
        #expect(late.cookies["__Host-urd"] == nil)
        try await browser.get("/")
        #expect(browser.place?.hasPrefix("http://id.acme.example/auth/login?redirect=") == true)
        #expect(try await world.open("drive", access).status == .badRequest)
    }

    /// Each realm has keys of its own.
    @Test func `COZ-19: a web app's host refuses another realm's session code`() async throws {
        let (one, other) = (try await FlagshipWorld(), try await FlagshipWorld())
        for world in [one, other] { try await world.add(FlagshipWorld.drive) }
        let (_, access) = try await one.owned()
        _ = try await other.owned()
        let browser = other.browser(at: host)
        try await browser.get("/?session_code=\(try await one.sessionCodeText(access))")
        #expect(browser.cookies["__Host-urd"] == nil)
        #expect(try await other.open("drive", access).status == .badRequest)
        #expect(try await other.happened("browser.opened").isEmpty)
    }
}
