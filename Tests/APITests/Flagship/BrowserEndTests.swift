import EventSourcing
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// The ways of signing a browser out beside the page for it.
enum BrowserEndWay: String, CaseIterable {
    case own = "/auth/login"
    case others = "/auth/login/others"
    case provider = "/oidc/any/logout"
}

@Suite struct `Signing a browser out in another way` {
    private let provider = StandIn()

    private func world() async throws -> FlagshipWorld {
        let world = try await FlagshipWorld(callProviders: provider.calls)
        provider.clock.withLock { $0 = world.world.clock }
        try await world.world.carryOut(ProviderChange.configure(.standIn()))
        try await world.world.link(world.account)
        _ = try await world.onboard(try await world.certified())
        return world
    }

    private func signIn(_ world: FlagshipWorld, session: String) async throws -> PageBrowser {
        let code = try await world.delegatedCode(session: session)
        let browser = try await world.page("/oidc/login?code=\(code)")
        #expect(browser.cookies["__Host-urd"] != nil)
        return browser
    }

    /// What a client was given in a browser.
    private func clientSession(
        _ world: FlagshipWorld, of browser: PageBrowser, isOffline: Bool = false
    ) async throws -> UUID {
        let client = try await world.register("Notes").id
        let session = UUID.random()
        var terms = SessionTerms(
            account: world.account, stamp: 0,
            client: try #require(Hex.decode(client).flatMap { UUID(bytes: $0) }), clientID: client,
            app: nil, scope: ["openid"], resources: [], factors: [.provider],
            openedAt: world.world.clock.next(),
            expiresAt: world.world.clock.next().adding(seconds: 3_600), isOffline: isOffline)
        terms.browser = browser.cookies["__Host-urd"].flatMap { BrowserSecret($0)?.session }
        try await world.world.carryOut(Happening<Session>(event: .opened(terms), stream: session))
        return session
    }

    private func end(
        _ way: BrowserEndWay, _ world: FlagshipWorld, _ browser: PageBrowser,
        _ other: PageBrowser
    ) async throws {
        guard way != .provider else {
            let token = provider.logoutToken(["sid": "s-1", "sub": .null])
            let told = try await world.world.post(way.rawValue, form: [("logout_token", token)])
            #expect(told.status == .ok)
            return
        }
        var headers: Headers = ["Host": "id.acme.example"]
        headers["Cookie"] = (way == .own ? browser : other).cookies
            .map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
        let answer = await world.world.router.respond(
            to: Request(
                method: .delete, path: way.rawValue, query: nil, headers: headers, body: [],
                source: "203.0.113.7", id: "r"))
        #expect(answer.status == .noContent)
    }

    @Test(arguments: BrowserEndWay.allCases)
    func `signing a browser out ends what clients have of it without offline access`(
        _ way: BrowserEndWay
    ) async throws {
        let world = try await world()
        let browser = try await signIn(world, session: "s-1")
        let other = try await signIn(world, session: "s-2")
        let ends = try await clientSession(world, of: browser)
        let offline = try await clientSession(world, of: browser, isOffline: true)
        let others = try await clientSession(world, of: other)
        try await end(way, world, browser, other)
        #expect(try await browser.get("/account").status == .seeOther)
        #expect(try await other.get("/account").status == .ok)
        let ended = try await world.happened("session.ended")
        #expect(ended.map(\.stream) == [ends])
        #expect(ended.first?.open["reason"] == "logged_out")
        #expect(![offline, others].contains { id in ended.contains { $0.stream == id } })
        if way == .provider {
            #expect(ended.first?.actor == "provider:corporate")
        }
    }
}
