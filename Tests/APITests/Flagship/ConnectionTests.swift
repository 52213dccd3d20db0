import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An owner's account at a konnector's provider` {
    private struct Setting {
        let world: FlagshipWorld
        let access: String
        let browser: PageBrowser

        /// Where the provider was asked to send people back to, and the state it was given.
        func begin(_ place: String = "/accounts/bank/start?slug=home&state=abc") async throws
            -> (place: String, pairs: [String: String])
        {
            try await browser.get(place)
            let link = try #require(browser.place, "\(browser.page)")
            let parts = link.split(separator: "?", maxSplits: 1).map(String.init)
            let pairs = Form.parse(Array(parts[1].utf8)) ?? []
            return (
                parts[0],
                Dictionary(
                    pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            )
        }

        func back(_ state: String?, _ more: String = "") async throws -> Answered {
            try await browser.get("/accounts/bank/redirect?state=\(state ?? "")\(more)")
        }
    }

    private func setting(_ more: JSONObject = [:]) async throws -> Setting {
        let world = try await FlagshipWorld(more)
        try await world.add(FlagshipWorld.bank)
        try await world.add(["kind": "app", "slug": "home", "name": "Home"])
        let (_, access) = try await world.owned()
        let browser = world.browser()
        let code = try await world.sessionCodeText(access)
        try await browser.get("/accounts/bank/start?session_code=\(code)&slug=home&state=abc")
        #expect(browser.place == "/accounts/bank/start?slug=home&state=abc")
        return Setting(world: world, access: access, browser: browser)
    }

    @Test
    func `COZ-19: a konnector connection begins with a session code and leads back to the app`()
        async throws
    {
        let setting = try await setting()
        let (place, pairs) = try await setting.begin()
        #expect(place == "https://bank.example/start")
        #expect(pairs["client"] == "acme")
        #expect(pairs["redirect_uri"] == "http://id.acme.example/accounts/bank/redirect")
        #expect(pairs["connection_id"] == nil)
        let state = try #require(pairs["state"])
        #expect(state != "abc")
        _ = try await setting.back(state, "&connection_id=b-17&code=secret")
        let home = try #require(setting.browser.place)
        let sign = "http://home.id.acme.example/?account="
        #expect(home.hasPrefix(sign))
        #expect(home.hasSuffix("&connection_id=b-17&state=abc"))
        #expect(!home.contains("secret"))
        // As the sheet has it: 32 hexadecimal digits. What was given out with dashes is read as well.
        let account = String(home.dropFirst(sign.count).prefix { $0 != "&" })
        #expect(account.utf8.count == 32 && account.allSatisfy(\.isHexDigit))
        let dashed = try #require(UUID(bytes: Hex.decode(account) ?? [])).description
        for account in [dashed, "0\(account)", String(account.dropLast()) + "g"] {
            try await setting.browser.get("/accounts/bank/\(account)/reconnect?slug=home")
            let leads = setting.browser.place?.hasPrefix("https://bank.example/again") ?? false
            #expect(leads == (account == dashed), "\(account)")
        }
        for (word, path) in [("reconnect", "again"), ("manage", "manage")] {
            let (place, pairs) = try await setting.begin(
                "/accounts/bank/\(account)/\(word)?slug=home&state=x")
            #expect(place == "https://bank.example/\(path)")
            #expect(pairs["connection_id"] == "b-17")
            _ = try await setting.back(pairs["state"])
            #expect(
                setting.browser.place
                    == "http://home.id.acme.example/?account=\(account)&state=x")
        }
        let steps = try await setting.world.happened("connection.begun").map { $0.open["step"] }
        #expect(steps == ["start", "reconnect", "reconnect", "manage"])
        // What somebody is called elsewhere is sealed under his key.
        for event in try await setting.world.happened("connection.finished") {
            #expect(event.open["provider_id"] == nil)
        }
    }

    @Test func `COZ-19: a failed konnector connection tells the app the error in plain ASCII`()
        async throws
    {
        let setting = try await setting()
        for (said, told) in [
            ("access_denied", "access_denied"), ("%3Cscript%3E", "unknown_error"),
            ("a%26account=1", "unknown_error"),
        ] {
            let (_, pairs) = try await setting.begin()
            _ = try await setting.back(pairs["state"], "&error=\(said)&connection_id=b")
            #expect(
                setting.browser.place
                    == "http://home.id.acme.example/?error=\(told)&state=abc")
        }
        let (_, pairs) = try await setting.begin("/accounts/bank/start?slug=home")
        _ = try await setting.back(pairs["state"], "&connection_id=a%26b")
        let place = try #require(setting.browser.place)
        #expect(!place.contains("connection_id"))
        #expect(!place.contains("state="))
    }

    @Test func `COZ-19: a konnector connection needs a browser signed in as the owner`()
        async throws
    {
        let setting = try await setting()
        let stranger = setting.world.browser()
        let id = UUID.random()
        for path in ["start", "\(id)/reconnect", "\(id)/manage", "redirect?state=x"] {
            try await stranger.get("/accounts/bank/\(path)")
            #expect(stranger.answer?.status == .forbidden, "\(path)")
        }
        // A code that was used lets nobody in, and shows nothing.
        let code = try await setting.world.sessionCodeText(setting.access)
        let place = "/accounts/bank/start?slug=home"
        try await setting.browser.get("\(place)&session_code=\(code)")
        try await stranger.get("\(place)&session_code=\(code)")
        #expect(stranger.place == place)
        #expect(stranger.cookies["__Host-urd"] == nil)
        try await stranger.follow()
        #expect(stranger.answer?.status == .forbidden)
        #expect(try await setting.world.happened("connection.begun").isEmpty)
    }

    @Test func `COZ-19: a konnector connection belongs to one browser, is used once and expires`()
        async throws
    {
        let setting = try await setting()
        let (_, pairs) = try await setting.begin()
        let state = try #require(pairs["state"])
        // Another browser of the same person, which a link was sent to.
        let other = setting.world.browser()
        let code = try await setting.world.sessionCodeText(setting.access)
        try await other.get("/accounts/bank/start?slug=home&session_code=\(code)")
        try await other.get("/accounts/bank/redirect?state=\(state)")
        #expect(other.answer?.status == .badRequest)
        try await other.get("/accounts/bank/redirect?state=x")
        #expect(other.answer?.status == .badRequest)
        // The same browser, back from another konnector's provider.
        try await setting.world.add(FlagshipWorld.bank.merging(["slug": "shop"]) { $1 })
        try await setting.browser.get("/accounts/shop/redirect?state=\(state)")
        #expect(setting.browser.answer?.status == .badRequest)
        #expect(try await setting.back(state).status == .seeOther)
        #expect(try await setting.back(state).status == .badRequest)
        #expect(try await setting.world.happened("connection.finished").count == 1)
        // It goes on in a browser whose person signed in once more meanwhile.
        let (_, next) = try await setting.begin()
        let fresh = try await setting.world.sessionCodeText(setting.access)
        try await setting.browser.get("/accounts/bank/start?slug=home&session_code=\(fresh)")
        #expect(try await setting.back(next["state"]).status == .seeOther)
        let (_, late) = try await setting.begin()
        setting.world.world.clock.advance(seconds: ProviderVisit.patience)
        #expect(try await setting.back(late["state"]).status == .forbidden)
    }

    @Test func `COZ-19: a konnector connection completed fifty times at once is made once`()
        async throws
    {
        let setting = try await setting()
        let (_, pairs) = try await setting.begin()
        let query = "state=\(try #require(pairs["state"]))"
        let cookie = "__Host-urd=\(try #require(setting.browser.cookies["__Host-urd"]))"
        let router = setting.world.world.router
        let done = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let answer = await router.respond(
                        to: Request(
                            method: .get, path: "/accounts/bank/redirect", query: query,
                            headers: ["Host": "id.acme.example", "Cookie": cookie], body: [],
                            source: "203.0.113.7", id: "r"))
                    return answer.status == .seeOther ? 1 : 0
                }
            }
            return await group.reduce(0, +)
        }
        #expect(done == 1)
        #expect(try await setting.world.happened("connection.finished").count == 1)
    }

    /// Where people are led comes of the registry, whatever a request says.
    @Test func `COZ-19: a konnector connection leads to known providers alone`() async throws {
        let setting = try await setting()
        let evil = "https%3A%2F%2Fevil.example"
        for query in [
            "slug=evil", "slug=\(evil)", "slug=bank", "slug=home&slug=evil", "slug=..%2Fhome", "",
        ] {
            try await setting.browser.get("/accounts/bank/start?\(query)")
            #expect(setting.browser.place == nil, "\(query)")
        }
        for path in ["/accounts/home/start?slug=home", "/accounts/nothing/start?slug=home"] {
            try await setting.browser.get(path)
            #expect(setting.browser.answer?.status == .notFound)
        }
        let (place, pairs) = try await setting.begin(
            "/accounts/bank/start?slug=home&redirect_uri=\(evil)&redirect=\(evil)&client=x")
        #expect(place == "https://bank.example/start")
        #expect(pairs["redirect_uri"] == "http://id.acme.example/accounts/bank/redirect")
        #expect(pairs["client"] == "acme")
        // Another konnector's way back is not this one's.
        try await setting.world.add(["kind": "konnector", "slug": "shop", "name": "Shop"])
        try await setting.browser.get("/accounts/shop/redirect?state=\(pairs["state"] ?? "")")
        #expect(setting.browser.answer?.status == .badRequest)
        try await setting.browser.get("/accounts/shop/start?slug=home")
        #expect(setting.browser.answer?.status == .notFound)
        // An account that is none, or was never made, is looked after nowhere.
        let begun = try #require(
            try await setting.world.happened("connection.begun").last?.stream)
        for id in [UUID.random(), begun] {
            try await setting.browser.get("/accounts/bank/\(id)/manage?slug=home")
            #expect(setting.browser.answer?.status == .notFound)
        }
        try await setting.browser.get("/accounts/bank/x/manage?slug=home")
        #expect(setting.browser.answer?.status == .notFound)
    }

    @Test func `a konnector connection returns to the realm's own app by default`() async throws {
        let setting = try await setting(["default_web_app": "home"])
        let (_, pairs) = try await setting.begin("/accounts/bank/start")
        _ = try await setting.back(pairs["state"])
        #expect(
            setting.browser.place?.hasPrefix("http://home.id.acme.example/?account=") == true)
    }

    @Test func `a konnector connection ends with its owner's session`() async throws {
        let setting = try await setting()
        let (_, pairs) = try await setting.begin()
        try await setting.world.world.carryOut(
            AccountChange.disable(setting.world.account))
        #expect(try await setting.back(pairs["state"]).status == .forbidden)
        #expect(try await setting.world.happened("connection.finished").isEmpty)
    }
}
