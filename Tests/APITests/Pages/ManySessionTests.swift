import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// More than a page of any list.
private let many = 450

/// Ann's apps have many sessions, as a thief with her browser could open them.
@Suite struct `An account with many sessions` {
    private let browser: PageBrowser
    private let client: UUID
    private var world: SignInWorld { browser.world }

    init() async throws { try await self.init([:]) }

    private init(_ settings: JSONObject) async throws {
        let settings = settings.merging([
            "registration": "jit_on_otp", "otp_resend_delay": 0,
        ]) { own, _ in own }
        let world = try await SignInWorld(settings)
        let metadata: JSONObject = [
            "grant_types": ["authorization_code", "refresh_token"], "consent": "none",
            "redirect_uris": [.string(AuthorizeWorld.back)], "client_name": "Northwind",
            "token_endpoint_auth_method": "client_secret_post",
        ]
        try await world.register("web", metadata, secret: SignInWorld.secret)
        browser = PageBrowser(world)
        try await browser.signIn()
        client = try #require(
            try await MemoryQueries(log: world.log).ask(
                KnownClient.byClientID, "web", in: world.realm)
        ).id
    }

    private func account() async throws -> UUID {
        try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .first { $0.name == "account.registered" }?.stream)
    }

    private func open(
        _ count: Int = many, removals: Int = 0, isOffline: Bool = true, of browser: UUID? = nil
    ) async throws -> [UUID] {
        let now = world.clock.next()
        var terms = SessionTerms(
            account: try await account(), stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid", "offline_access"], resources: [], factors: [.mailedCode],
            openedAt: now, expiresAt: now.adding(seconds: 86_400), isOffline: isOffline)
        terms.stamp.removals = removals
        terms.browser = browser
        let command = OpenMany(sessions: (0..<count).map { _ in UUID.random() }, terms: terms)
        try await world.carryOut(command)
        return command.sessions
    }

    private func line() async throws -> UUID {
        try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm)
                .first { $0.name == "browser.opened" }?.stream)
    }

    private func living(_ sessions: [UUID]) async throws -> Int {
        let queries = MemoryQueries(log: world.log)
        var count = 0
        for session in sessions {
            let line = try await queries.ask(SessionLine.bySession, session, in: world.realm)
            if line?.session.isOver == false { count += 1 }
        }
        return count
    }

    private func downloaded() async throws -> Int? {
        try await browser.get("/account/data.json").json["apps"]?.array?.count
    }

    @Test func `many sessions of an app all end with the removal of its access`() async throws {
        let opened = try await open()
        #expect(try await downloaded() == many)
        #expect(try await living(opened) == many)
        try await browser.get("/account/sessions")
        try await browser.submit("/account/apps/end", [("client", "web")])
        #expect(browser.place == "/account/sessions?done=access-removed")
        #expect(try await living(opened) == 0)
        #expect(try await downloaded() == 0)
        let names = try await world.events()
        #expect(names.count { $0 == "account.access_removed" } == 1)
        #expect(!names.contains("session.ended"))
        // The person lets the app in again.
        #expect(try await living(try await open(1, removals: 1)) == 1)
    }

    @Test(arguments: [false, true])
    func `many sessions of a browser that is signed out end by one event`(
        _ endsOffline: Bool
    ) async throws {
        try await Self(["logout_ends_offline_access": .bool(endsOffline)])
            .signOut(endsOffline: endsOffline)
    }

    private func signOut(endsOffline: Bool) async throws {
        let line = try await line()
        let online = try await open(510, isOffline: false, of: line)
        let offline = try await open(510, of: line)
        let others = try await open(3, isOffline: false, of: .random())
        try await browser.get("/logout")
        try await browser.submit("/logout")
        #expect(try await browser.get("/account").status == .seeOther)
        #expect(try await living(online) == 0)
        #expect(try await living(offline) == (endsOffline ? 0 : 510))
        #expect(try await living(others) == 3)
        let names = try await world.events()
        #expect(names.count { $0 == "account.access_removed" } == (endsOffline ? 2 : 1))
        #expect(!names.contains("session.ended"))
        #expect(names.last == "browser.ended")
    }
}

private struct OpenMany: Command {
    let sessions: [UUID]
    let terms: SessionTerms

    enum Rejection: Error, Equatable { case none }

    func gather(_ streams: some StreamReader) async throws(LogFailure) {
        for session in sessions { _ = try await streams.readNew(Session.self, session) }
    }

    func decide(_ facts: Void) throws(Rejection) -> Decision {
        var decision = Decision()
        for session in sessions {
            decision.append(SessionEvent.opened(terms), in: session, of: terms.account)
        }
        return decision
    }
}
