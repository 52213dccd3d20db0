import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The list of events about something` {
    private let path = "/api/admin/realms/acme/events"

    private func types(_ world: World, _ query: String) async throws -> [String] {
        let answer = try await world.send(.get, path, query: query)
        #expect(answer.status == .ok, "\(answer.json)")
        return answer.json["items"]?.array?.compactMap { $0["type"]?.string } ?? []
    }

    @Test func `the list of events about an account has what names it in its stream's beginning`()
        async throws
    {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let session = try #require(world.names["session_id"].flatMap { UUID($0) })
        try await world.happen(Session.self, .ended(.revoked), in: session)
        let found = try await types(world, "account=\(account)&limit=200")
        for type in ["account.registered", "session.opened", "session.ended", "owner.appointed"] {
            #expect(found.contains(type), "\(found)")
        }
        #expect(!found.contains("app.created") && !found.contains("client.registered"))
        #expect(
            try await types(world, "session=\(session)") == ["session.opened", "session.ended"])
        let nobody = try await types(world, "account=\(UUID.random())")
        #expect(nobody.isEmpty)
    }

    @Test func `the list of events about a client is asked for by its name, or its id`()
        async throws
    {
        let world = try await World()
        let name = try #require(world.names["client_id"])
        #expect(try await types(world, "client=\(name)").first == "client.registered")
        let all = try await world.send(.get, path, query: "limit=200")
        let registered = all.json["items"]?.array?.first {
            $0["type"] == "client.registered" && $0["data"]?["client_name"] == "Desk"
        }
        let stream = try #require(registered?["stream"]?.string)
        _ = try await world.send(.delete, "/api/admin/realms/acme/clients/\(name)")
        let after = try await types(world, "client=\(stream)")
        #expect(after.first == "client.registered" && after.last == "client.deleted")
        let unknown = try await world.send(.get, path, query: "client=no-such")
        #expect(unknown.problem == .invalidParameter && unknown.field == "client")
        #expect(unknown.json["detail"]?.string == "The realm has no client 'no-such'.")
    }

    @Test
    func `the list of events about something has pages, and several conditions hold together`()
        async throws
    {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let whole = try await world.send(.get, path, query: "account=\(account)&limit=200")
        let items = try #require(whole.json["items"]?.array)
        var paged: [JSON] = []
        var after: String?
        repeat {
            let more = after.map { "&after=\($0)" } ?? ""
            let page = try await world.send(
                .get, path, query: "account=\(account)&limit=2\(more)")
            paged += page.json["items"]?.array ?? []
            after = page.nextPage
        } while after != nil
        #expect(paged == items && items.count > 4)
        let device = try await types(world, "account=\(account)&device=iPhone")
        #expect(device == ["session.opened"])
        #expect(try await types(world, "account=\(account)&device=iPad").isEmpty)
        let source = try await world.send(.get, path, query: "source=network")
        #expect(source.problem == .invalidParameter && source.field == "source")
    }

    @Test func `the list of events about something of another realm is empty or refused`()
        async throws
    {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let missing = try await world.send(
            .get, "/api/admin/realms/nowhere/events", query: "account=\(account)")
        #expect(missing.problem == .noSuchRealm)
        let system = try await world.send(
            .get, "/api/admin/realms/system/events", query: "account=\(account)")
        #expect(system.json["items"] == [])
    }
}
