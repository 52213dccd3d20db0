import EventSourcing
import HTTP
import JSON
import Testing

@testable import API

@Suite struct `A repeated write` {
    private let clients = "/api/admin/realms/acme/clients"
    private let body: JSON = ["client_name": "A", "redirect_uris": ["https://a.example/"]]

    @Test func `a repeated write gets the first answer with the first secret and has one effect`()
        async throws
    {
        let world = try await World()
        let first = try await world.send(.post, clients, body: body, idempotencyKey: "k")
        let secret = try #require(first.json["client_secret"]?.string)
        #expect(secret.utf8.count == 43)
        let head = try await world.log.head(of: try #require(.init("acme")))
        let second = try await world.send(.post, clients, body: body, idempotencyKey: "k")
        #expect(second.response == first.response)
        #expect(try await world.log.head(of: try #require(.init("acme"))) == head)
    }

    @Test func `a repeated write gets the first answer also after later changes`() async throws {
        let world = try await World()
        let first = try await world.send(.post, clients, body: body, idempotencyKey: "k")
        let path = clients + "/" + (first.json["client_id"]?.string ?? "")
        let rotated = try await world.send(
            .post, path + "/rotate-secret", idempotencyKey: "rotate")
        #expect(rotated.json["client_secret"] != first.json["client_secret"])
        let updated = try await world.send(
            .put, path, body: ["client_name": "B", "redirect_uris": ["https://b.example/"]],
            idempotencyKey: "update")
        #expect(updated.json["client_secret"] == nil)
        let deleted = try await world.send(.delete, path, idempotencyKey: "delete")
        #expect(deleted.status == .noContent)

        let again = try await world.send(.post, clients, body: body, idempotencyKey: "k")
        #expect(again.response == first.response)
        let rotatedAgain = try await world.send(
            .post, path + "/rotate-secret", idempotencyKey: "rotate")
        #expect(rotatedAgain.response == rotated.response)
        let updatedAgain = try await world.send(
            .put, path, body: ["client_name": "B", "redirect_uris": ["https://b.example/"]],
            idempotencyKey: "update")
        #expect(updatedAgain.response == updated.response)
        let deletedAgain = try await world.send(.delete, path, idempotencyKey: "delete")
        #expect(deletedAgain.response == deleted.response)
        #expect(try await world.send(.delete, path).problem == .noSuchClient)
    }

    /// Requests that say what there is to be: where it is there, nothing is left to do.
    private static let declared = ["applyConfiguration", "importAccounts"]

    @Test func `an account that is imported again is as it was`() async throws {
        let route = try #require(API.table.first { $0.id == "importAccounts" })
        let world = try await World()
        let body = try world.example(of: route)
        let first = try await world.send(route.method, world.path(route), body: body)
        let second = try await world.send(route.method, world.path(route), body: body)
        #expect(first.json["items"]?.array?.first?["status"] == "imported")
        #expect(second.json["items"]?.array?.first?["status"] == "unchanged")
    }

    @Test func `a configuration that is applied again has nothing left to do`() async throws {
        let route = try #require(API.table.first { $0.id == "applyConfiguration" })
        let world = try await World()
        let body = try world.example(of: route)
        let path = world.path(route)
        let first = try await world.send(route.method, path, body: body, idempotencyKey: "again")
        let second = try await world.send(route.method, path, body: body, idempotencyKey: "again")
        #expect(first.json["changes"]?.array?.isEmpty == false)
        #expect(second.status == .ok)
        #expect(second.json["changes"] == [])
    }

    @Test(
        arguments: API.table.filter { $0.method != .get && !declared.contains($0.id) }.map(\.id))
    func `a repeated write gets the first answer at every route`(_ id: String) async throws {
        let route = try #require(API.table.first { $0.id == id })
        let world = try await World()
        let path = world.path(route)
        let body = try world.example(of: route)
        let first = try await world.send(route.method, path, body: body, idempotencyKey: "again")
        let second = try await world.send(route.method, path, body: body, idempotencyKey: "again")
        #expect(first.status == route.answer.status)
        #expect(second.response == first.response)
    }

    /// What is confirmed, and which case files are asked for, is in no log.
    private static let unlogged: Set<String> = [
        "acknowledgeEvents", "createCaseFile", "cancelCaseFile", "createWhatIf", "cancelWhatIf",
        "createAsOfBuild", "cancelAsOfBuild",
        "planConfiguration", "applyConfiguration", "compareConfiguration", "importAccounts",
    ]

    @Test(
        arguments: API.table.filter { $0.method != .get && !unlogged.contains($0.id) }.map(\.id)
    )
    func `a write whose idempotency key stood for another request is refused`(_ id: String)
        async throws
    {
        let route = try #require(API.table.first { $0.id == id })
        let world = try await World()
        // Whichever realm the route writes in, the key has been used there.
        try await use(world, .patch, "/api/admin/realms/acme/settings", ["otp_attempts": 4])
        try await use(world, .post, "/api/admin/keys", ["name": "other"])
        try await use(world, .post, "/api/admin/realms", ["realm": "demo", "display_name": "D"])
        var body = try world.example(of: route)
        if id == "createRealm" { body = ["realm": "demo", "display_name": "Other"] }
        let answer = try await world.send(
            route.method, world.path(route), body: body, idempotencyKey: "used")
        #expect(answer.problem == .idempotencyKeyReused)
        #expect(answer.status == .unprocessable)
    }

    private func use(_ world: World, _ method: Method, _ path: String, _ body: JSON) async throws {
        let answer = try await world.send(method, path, body: body, idempotencyKey: "used")
        #expect(answer.status.code < 300)
    }

    @Test func `a write under another admin's idempotency key is a new write`() async throws {
        let world = try await World()
        let first = try await world.send(.post, clients, body: body, idempotencyKey: "k")
        let second = try await world.send(
            .post, clients, body: body, key: world.narrowKey, idempotencyKey: "k")
        #expect(first.json["client_id"] != second.json["client_id"])
        #expect(first.json["client_secret"] != second.json["client_secret"])
    }

    @Test func `simultaneous repeats of a write have one effect`() async throws {
        let world = try await World()
        let answers = try await withThrowingTaskGroup(of: Response.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try await world.send(.post, clients, body: body, idempotencyKey: "k").response
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0 == answers[0] })
        #expect(answers[0].status == .created)
        let all = try await world.send(.get, clients)
        // Beside the two that were there.
        #expect(all.json["items"]?.array?.count == 3)
    }

    @Test func `a write without an idempotency key takes effect each time`() async throws {
        let world = try await World()
        let first = try await world.send(.post, clients, body: body)
        let second = try await world.send(.post, clients, body: body)
        #expect(first.json["client_id"] != second.json["client_id"])
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "k", count: 256)])
    func `a malformed idempotency key is refused`(_ key: String) async throws {
        let world = try await World()
        let answer = try await world.send(.post, clients, body: body, idempotencyKey: key)
        #expect(answer.problem == .invalidParameter)
        #expect(answer.field == "Idempotency-Key")
    }

    @Test func `a repeated write is recognised by its members, not by their order or spacing`()
        async throws
    {
        let world = try await World()
        func send(_ text: String) async throws -> Answered {
            try await world.send(
                Request(
                    method: .post, path: clients, query: nil,
                    headers: [
                        "Authorization": "Bearer \(world.key.text)", "Idempotency-Key": "k",
                        "Content-Type": "application/json",
                    ], body: Array(text.utf8), source: "", id: "r"))
        }
        let first = try await send(
            #"{"client_name":"A","redirect_uris":["https://a.example/"]}"#)
        let second = try await send(
            #" { "redirect_uris" : [ "https:\/\/a.example/" ] , "client_name" : "A" } "#)
        #expect(first.status == .created)
        #expect(second.response == first.response)
    }
}
