import EventSourcing
import HTTP
import JSON
import Testing

@testable import API

@Suite struct `What streams of signals share` {
    @Test func `nothing that is sealed is opened in it`() async throws {
        let world = try await World()
        let made = try await world.make(
            "/api/admin/realms/acme/accounts", ["email": "ann@example.org"])
        let account = try #require(made.json["id"]?.string)
        _ = try await world.send(
            .patch, "/api/admin/realms/acme/accounts/\(account)", body: ["email": "b@example.org"])
        let acme = try #require(RealmID("acme"))
        let pages = SignalPages(world.log)
        let page = try await pages.page(after: 0, of: 0, in: acme)
        let sealed = page.sources.filter { $0.event.personal == .sealed }
        #expect(!sealed.isEmpty)
        let known = try await pages.sources(
            at: Set(page.sources.map(\.event.position)), in: acme
        ).sources.values
        for source in page.sources + known {
            if case .opened = source.event.personal { Issue.record("\(source.event.name)") }
        }
    }
}
