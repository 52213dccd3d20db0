import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `An account's browsers over HTTP` {
    private let world: World
    private let account: UUID
    private let path: String

    init() async throws {
        world = try await World()
        account = try #require(world.names["account_id"].flatMap { UUID($0) })
        path = "/api/admin/realms/acme/accounts/\(account)/sessions"
    }

    /// A browser that somebody signs in with.
    private func signIn(_ id: UUID, of account: UUID, line: UUID? = nil) async throws {
        let now = Timestamp(seconds: 1_795_224_225)
        var terms = BrowserTerms(
            account: account, stamp: 0, method: .code, factors: [.mailedCode],
            digest: try #require(SecretDigest(Array(repeating: 1, count: 32))), openedAt: now,
            expiresAt: now.adding(seconds: 86_400),
            from: SignInPlace(source: "network", device: "Windows"))
        terms.line = line
        try await world.happen(BrowserSession.self, .opened(terms), in: id)
    }

    /// What a client got through a browser.
    private func give(_ id: UUID, through browser: UUID, isOffline: Bool = false) async throws {
        var terms = world.terms(of: account)
        (terms.browser, terms.isOffline) = (browser, isOffline)
        try await world.happen(Session.self, .opened(terms), in: id)
    }

    private func listed(_ query: String? = nil) async throws -> (ids: [String], next: String?) {
        let list = try await world.send(.get, path, query: query).json
        return (
            list["items"]?.array?.compactMap { $0["id"]?.string } ?? [], list["next"]?.string
        )
    }

    private func kinds() async throws -> [String?] {
        try await world.send(.get, path).json["items"]?.array?.map { $0["kind"]?.string } ?? []
    }

    /// Ids in the order of time.
    private func ids(_ count: Int) -> [UUID] { (0..<count).map { _ in UUID.random() }.sorted() }

    @Test func `an account's browsers are listed among its sessions, page by page`() async throws {
        let ids = ids(5)
        for id in ids.prefix(3) { try await signIn(id, of: account) }
        for id in ids.suffix(2) { try await give(id, through: ids[0]) }
        let own = try #require(world.names["session_id"])
        let wanted = (ids.map(\.description) + [own]).sorted(by: >)
        let all = try await listed()
        #expect(all.ids == wanted && all.next == nil)
        var pages: [String] = []
        var after: String? = ""
        while let next = after {
            let page = try await listed("limit=2" + (next.isEmpty ? "" : "&after=\(next)"))
            #expect(page.ids.count <= 2)
            pages += page.ids
            after = page.next
        }
        #expect(pages == wanted)
        let items = try await world.send(.get, path).json["items"]?.array ?? []
        let browser = try #require(items.first { $0["id"]?.string == ids[0].description })
        #expect(
            browser == [
                "id": .string(ids[0].description), "kind": "browser", "device": "Windows",
                "source": "network", "created_at": "2026-11-21T01:23:45.000000Z",
                "expires_at": "2026-11-22T01:23:45.000000Z",
            ])
        let client = try #require(items.first { $0["id"]?.string == own })
        #expect(client["kind"] == "client" && client["last_used_at"]?.string != nil)
    }

    @Test func `an account's browsers are signed out one by one, with what came of them`()
        async throws
    {
        let ids = ids(6)
        let (first, browser) = (ids[0], ids[1])
        try await signIn(browser, of: account, line: first)
        try await signIn(ids[2], of: account)
        try await give(ids[3], through: first)
        try await give(ids[4], through: first, isOffline: true)
        try await give(ids[5], through: ids[2])
        let other = try await world.person("ada@example.org")
        let foreign = path.replacing(account.description, with: other.description)
        let refused = try await world.send(.delete, "\(foreign)/\(browser)")
        #expect(refused.problem == .noSuchSession)
        let before = try await world.events().count
        for _ in 0..<2 {
            let ended = try await world.send(
                .delete, "\(path)/\(browser)", idempotencyKey: "out")
            #expect(ended.status == .noContent)
        }
        let again = try await world.send(.delete, "\(path)/\(browser)")
        #expect(again.status == .noContent)
        let events = Array(try await world.events().dropFirst(before))
        #expect(events.map(\.name) == ["session.ended", "browser.ended"])
        #expect(events.map(\.stream) == [ids[3], browser])
        #expect(events.map(\.actor) == Array(repeating: "admin:\(world.key.id)", count: 2))
        #expect(events.first?.open["reason"] == "logged_out")
        #expect(events.last?.open == ["reason": "administrator"])
        let left = try await listed().ids
        let own = try #require(world.names["session_id"])
        #expect(
            left == ([ids[2], ids[4], ids[5]].map(\.description) + [own]).sorted(by: >))
    }

    @Test func `signing an account's browser out reaches the session that took its place`()
        async throws
    {
        let ids = ids(3)
        try await signIn(ids[0], of: account)
        try await world.happen(BrowserSession.self, .ended(.replaced), in: ids[0])
        try await signIn(ids[1], of: account, line: ids[0])
        try await signIn(ids[2], of: account)
        let before = try await world.events().count
        #expect(try await world.send(.delete, "\(path)/\(ids[0])").status == .noContent)
        let events = Array(try await world.events().dropFirst(before))
        #expect(events.map(\.name) == ["browser.ended", "browser.ended"])
        #expect(events.map(\.stream) == [ids[0], ids[1]])
        #expect(try await listed().ids.contains(ids[2].description))
        #expect(try await !listed().ids.contains(ids[1].description))
    }

    @Test func `signing an account's browser out ends offline access where the realm wants that`()
        async throws
    {
        let set = try await world.send(
            .patch, "/api/admin/realms/acme/settings", body: ["logout_ends_offline_access": true])
        #expect(set.status == .ok)
        let ids = ids(2)
        try await signIn(ids[0], of: account)
        try await give(ids[1], through: ids[0], isOffline: true)
        #expect(try await world.send(.delete, "\(path)/\(ids[0])").status == .noContent)
        #expect(try await listed().ids == [try #require(world.names["session_id"])])
        #expect(try await kinds() == ["client"])
    }
}
