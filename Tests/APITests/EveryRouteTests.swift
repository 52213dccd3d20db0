import EventSourcing
import HTTP
import JSON
import LogTesting
import Testing
import Values

@testable import API

private let admin = API.table.filter { $0.right != .nothing }

/// What holds for every route of the table, whatever it does.
@Suite struct `Every route` {
    @Test(arguments: API.table.map(\.id))
    func `every route answers its own example as documented`(_ id: String) async throws {
        let route = try #require(API.table.first { $0.id == id })
        let world = try await World()
        let answer = try await world.send(
            route.method, world.path(route), body: try world.example(of: route))
        // The world has no app of the example's name, no such realm and no such host.
        #expect(answer.status == route.answer.status)
    }

    @Test(arguments: API.table.map(\.id))
    func `every route's examples are valid against its schemas`(_ id: String) throws {
        let route = try #require(API.table.first { $0.id == id })
        if let body = route.body { try body.schema.check(body.example) }
        if case .json(let schema, let example) = route.answer.content { try schema.check(example) }
        for parameter in route.parameters {
            if let example = parameter.example { try parameter.schema.check(example) }
        }
    }

    @Test func `every route asks for a key or is declared public`() {
        let open = API.table.filter { $0.right == .nothing }.map(\.path.description)
        #expect(
            open.sorted() == [
                "/", "/asyncapi.json", "/openapi.json", "/problems/{problem}",
                "/schemas/configuration", "/schemas/events/envelope",
                "/schemas/events/{type}/{revision}",
            ])
        for route in API.table where route.path.description.hasPrefix("/api/") {
            #expect(route.right != .nothing)
        }
    }

    @Test func `every route that writes takes an idempotency key and documents where it stands`() {
        // What is confirmed is in no log, and to confirm it again changes nothing; a case file is in the log when it
        // is handed out.
        let unlogged = [
            "acknowledgeEvents", "createCaseFile", "cancelCaseFile", "createWhatIf", "cancelWhatIf",
            "createAsOfBuild", "cancelAsOfBuild",
            "planConfiguration", "applyConfiguration", "compareConfiguration", "importAccounts",
        ]
        for route in admin where route.method != .get && !unlogged.contains(route.id) {
            #expect(route.parameters.contains { $0.name == "Idempotency-Key" }, "\(route.id)")
            #expect(route.answer.headers.contains { $0.name == "Urd-Position" }, "\(route.id)")
        }
    }

    enum Credentials: String, CaseIterable, Sendable {
        case none, twice, otherScheme, malformed, tooShort, unknown, wrongSecret, revoked
    }

    @Test(arguments: admin.map(\.id))
    func `every route refuses requests without a valid key`(_ id: String) async throws {
        let route = try #require(admin.first { $0.id == id })
        let world = try await World()
        for credentials in Credentials.allCases {
            try await refused(route, world, credentials)
        }
    }

    private func refused(
        _ route: Route<AdminContext>, _ world: World, _ credentials: Credentials
    ) async throws {
        var headers: Headers = ["Content-Type": "application/json"]
        let right = world.key
        let lines: [String] =
            switch credentials {
            case .none: []
            case .twice: ["Bearer \(right.text)", "Bearer \(right.text)"]
            case .otherScheme: ["Basic \(right.text)"]
            case .malformed: ["Bearer \(right.text)="]
            case .tooShort: ["Bearer "]
            case .unknown: ["Bearer \(BearerKey(id: .zero, secret: right.secret).text)"]
            case .wrongSecret:
                ["Bearer \(BearerKey(id: right.id, secret: world.narrowKey.secret).text)"]
            case .revoked: ["Bearer \(world.revokedKey.text)"]
            }
        for line in lines { headers.append("Authorization", line) }
        let before = try await world.log.head(of: .system).position
        let answer = try await world.send(
            Request(
                method: route.method, path: world.path(route), query: nil, headers: headers,
                body: route.body?.example.canonical() ?? [], source: "::1", id: "r"))
        #expect(answer.problem == .unauthenticated, "\(credentials)")
        let challenge = answer.response.headers["WWW-Authenticate"]
        #expect(challenge?.hasPrefix("Bearer") == true, "\(credentials)")
        // That it was refused is on record, where it was a key, and nothing else.
        let since = try await world.log.events(from: before + 1, limit: .max, in: .system)
        let isKey = [.unknown, .wrongSecret, .revoked].contains(credentials)
        #expect(since.map(\.name) == (isKey ? ["admin_key.refused"] : []), "\(credentials)")
    }

    @Test(arguments: admin.map(\.id))
    func `every route refuses another realm's key, whether the realm exists or not`(
        _ id: String
    ) async throws {
        let route = try #require(admin.first { $0.id == id })
        let world = try await World()
        let path = world.path(route)
        for other in ["other", "system", "not-there", "NOT%20A%20REALM"] {
            let foreign = path.replacing("/realms/acme", with: "/realms/\(other)")
            if foreign == path && route.right == .realm { continue }
            let answer = try await world.send(
                route.method, foreign, body: try world.example(of: route), key: world.narrowKey)
            #expect(answer.problem == .forbidden, "\(foreign)")
            #expect(answer.json["detail"] == nil)
        }
    }

    @Test(arguments: admin.map(\.id))
    func `every route answers 404 under the id of another kind of resource`(_ id: String)
        async throws
    {
        let route = try #require(admin.first { $0.id == id })
        let named = try await World().names.filter {
            route.path.description.contains("{\($0.key)}") && UUID($0.value) != nil
        }
        for name in named.keys {
            for kind in ["account_id", "session_id", "mail_id", "invite_id"] where kind != name {
                var world = try await World()
                world.names[name] = world.names[kind]
                let answer = try await world.send(
                    route.method, world.path(route), body: try world.example(of: route))
                #expect(answer.status.code < 500, "\(name): \(answer.json)")
            }
        }
    }

    @Test(arguments: admin.map(\.id))
    func `every route accepts a realm's key exactly where the right for that realm is enough`(
        _ id: String
    ) async throws {
        let route = try #require(admin.first { $0.id == id })
        var world = try await World()
        if id == "downloadCaseFile" {
            // It is handed out to the key that asked for it alone.
            world.names["case_id"] = try await world.caseFile(
                about: world.names["account_id"] ?? "", key: world.narrowKey)
        }
        let answer = try await world.send(
            route.method, world.path(route), body: try world.example(of: route),
            key: world.narrowKey)
        let refused = route.right == .everything ? ProblemKind.forbidden : nil
        #expect(answer.problem == refused, "\(answer.json)")
    }

    @Test(arguments: [
        (LogFailure.busy, ProblemKind.busy), (.unavailable, .unavailable),
        (.fenced, .unavailable), (.contended, .contended), (.damaged, .logDamaged),
        (.refused, .internalError),
    ])
    func `every route answers 5xx and never 4xx when the log fails`(
        _ failure: LogFailure, _ kind: ProblemKind
    ) async throws {
        let world = try await World()
        world.log.fail(with: failure)
        for route in admin {
            let answer = try await world.send(
                route.method, world.path(route), body: try world.example(of: route))
            #expect(answer.problem == kind, "\(route.id)")
            #expect(answer.status.code >= 500)
        }
    }

    @Test(arguments: API.table.map(\.id))
    func `every route answers 405 to methods that it does not have`(_ id: String) async throws {
        let route = try #require(API.table.first { $0.id == id })
        let world = try await World()
        let path = world.path(route)
        let known = Set(API.table.filter { $0.path == route.path }.map(\.method))
        for method in Method.allCases where !known.contains(method) {
            let answer = try await world.send(method, path)
            switch method {
            case .head where known.contains(.get): #expect(answer.status == .ok)
            case .options:
                #expect(answer.status == .noContent)
                #expect(answer.response.headers["Allow"]?.contains(route.method.rawValue) == true)
            case .get, .head, .post, .put, .patch, .delete:
                #expect(answer.problem == .methodNotAllowed)
                #expect(answer.response.headers["Allow"]?.contains(route.method.rawValue) == true)
            }
        }
    }

    @Test(arguments: API.table.map(\.id))
    func `every route refuses unknown, repeated and unreadable parameters`(
        _ id: String
    ) async throws {
        let route = try #require(API.table.first { $0.id == id })
        let world = try await World()
        func ask(_ query: String) async throws -> Answered {
            try await world.send(
                route.method, world.path(route), query: query, body: try world.example(of: route))
        }
        let unknown = try await ask("no_such=1")
        #expect(unknown.problem == .unknownParameter)
        #expect(unknown.field == "no_such")
        #expect(try await ask("=1").field == "")
        #expect(try await ask("%zz").problem == .invalidParameter)
        for parameter in route.parameters where parameter.place == .query {
            let name = parameter.name
            let example = parameter.example.map { value in
                value.string ?? value.integer.map { "\($0)" } ?? ""
            }
            if let example {
                let text = example.replacing("demo", with: "acme")
                #expect(
                    try await ask("\(name)=\(text)&\(name)=\(text)").problem == .repeatedParameter)
            }
            for wrong in ["", "%00", "%C3%A9", "-1", "999999999999999999999999", "null"] {
                let answer = try await ask("\(name)=\(wrong)")
                let isFilter = name == "filter" && !wrong.isEmpty
                #expect(
                    answer.problem == (isFilter ? .invalidFilter : .invalidParameter),
                    "\(route.id) \(name)=\(wrong)")
                #expect(answer.field == name)
            }
        }
    }

    @Test(arguments: API.table.filter { !$0.path.parameters.isEmpty }.map(\.id))
    func `every route refuses names in its path that cannot exist`(_ id: String) async throws {
        let route = try #require(API.table.first { $0.id == id })
        let world = try await World()
        for hole in route.path.parameters {
            for wrong in ["%2F", "%00", "%zz", "%C3", "a%20b", "%2e%2e", ";x=1", "%F0%9F%98%80"] {
                let path = route.path.segments.map { segment in
                    switch segment {
                    case .literal(let text): text
                    case .parameter(hole): wrong
                    case .parameter(let name): world.names[name] ?? "0"
                    }
                }
                let answer = try await world.send(
                    route.method, "/" + path.joined(separator: "/"),
                    body: try world.example(of: route))
                // ".." is a client id like any other: it is a name here and never a path.
                let isName = wrong == "%2e%2e" && hole == "client_id"
                // It is the text of an event type too, of one that there is not.
                let isType = wrong == "%2e%2e" && id == "getEventSchema" && hole == "type"
                let expected: ProblemKind =
                    isName ? .noSuchClient : isType ? .noSuchEventType : .invalidParameter
                #expect(answer.problem == expected, "\(route.id) \(hole) \(wrong)")
            }
        }
    }
}
