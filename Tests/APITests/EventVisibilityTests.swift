import EventSourcing
import HTTP
import JSON
import LogTesting
import Testing
import Values

@testable import API

@Suite struct `Events in the admin API` {
    @Test func `the list of events and a single event show no digest of a client's secret`()
        async throws
    {
        let world = try await World()
        let made = try await world.make(
            "/api/admin/realms/acme/clients",
            ["client_name": "C", "redirect_uris": ["https://c.example/"]])
        #expect(made.json["client_secret"]?.string != nil)
        let path = "/api/admin/realms/acme/events"
        let list = try await world.send(.get, path, query: "limit=200")
        let event = try #require(
            list.json["items"]?.array?.first { $0["data"]?["client_name"] == "C" })
        #expect(event["data"]?["secret_digest"] == nil)
        let position = try #require(event["position"]?.integer)
        let single = try await world.send(.get, "\(path)/\(position)")
        #expect(single.json["data"]?["client_name"] == "C")
        #expect(single.json["data"]?["secret_digest"] == nil)
    }
}
