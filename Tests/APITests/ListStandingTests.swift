import EventSourcing
import HTTP
import JSON
import Testing
import Values

@testable import API

/// The lists of the administration, as the description has them that callers are given.
@Suite struct `The standing of lists` {
    struct List: Sendable, CustomTestStringConvertible {
        let id: String
        let path: String
        let members: [String: JSON]
        var testDescription: String { id }
    }

    /// The routes whose answers have items, and what they say beside them.
    static let lists: [List] = {
        guard let document = try? JSON.parse(API.document),
            let schemas = document["components"]?["schemas"]
        else { return [] }
        return (document["paths"]?.object ?? [:]).compactMap { path, operations -> List? in
            let get = operations["get"]
            guard path.hasPrefix("/api/admin/"), let id = get?["operationId"]?.string,
                var schema = get?["responses"]?["200"]?["content"]?["application/json"]?["schema"]
            else { return nil }
            if let name = schema["$ref"]?.string?.split(separator: "/").last {
                schema = schemas[String(name)] ?? .null
            }
            guard let members = schema["properties"]?.object, members["items"] != nil else {
                return nil
            }
            return List(
                id: id, path: path,
                members: members.reduce(into: [:]) { $0[$1.key] = $1.value })
        }
    }()

    private static let ofMoments = [
        "listRolesAsOf", "listAccountsAsOf", "listClientsAsOf", "listSessionsAsOf",
        "listPasskeysAsOf", "listCredentialsAsOf",
    ]
    /// The webhooks of this world deliver nothing.
    private static let ofDeliveries = ["listWebhookDeliveries", "listWebhookAttempts"]

    @Test func `there are as many lists as the description has`() {
        #expect(Self.lists.count >= 30, "\(Self.lists.map(\.id).sorted())")
    }

    @Test(arguments: lists)
    func `a list says as of which position it is, and where the log ends`(_ list: List) async throws
    {
        for name in ["position", "head"] {
            #expect(list.members[name]?["type"] == "integer", "\(list.id) says no \(name)")
        }
        let route = try #require(API.table.first { $0.id == list.id })
        let world = try await World()
        let isOfSystem = ["listRealms", "listHosts", "listAdminKeys"].contains(list.id)
        let realm = isOfSystem ? RealmID.system : try #require(RealmID("acme"))
        let head = try await world.log.head(of: realm).position
        let answer = try await world.send(.get, world.path(route))
        #expect(answer.status == .ok)
        let position = try #require(answer.json["position"]?.integer)
        guard !Self.ofDeliveries.contains(list.id) else {
            #expect(position == 0 && answer.json["head"] == 0)
            return
        }
        #expect(answer.json["head"] == .integer(head), "\(answer.json)")
        if Self.ofMoments.contains(list.id) {
            #expect(position <= head)
        } else {
            #expect(position == head)
        }
    }
}
