import HTTP
import JSON
import LogTesting
import Testing

@testable import API

private let withBody = API.table.filter { $0.body != nil }

@Suite struct `A body` {
    @Test(arguments: withBody.map(\.id))
    func `a body that breaks its schema is refused with the field's name`(_ id: String) async throws
    {
        let route = try #require(withBody.first { $0.id == id })
        let body = try #require(route.body)
        guard case .object(let rule) = body.schema.resolved else { return }
        let world = try await World()
        let example = try #require(body.example.object)
        for member in rule.members {
            for wrong in member.schema.wrongValues {
                var members = example
                members[member.name] = wrong
                let answer = try await world.send(
                    route.method, world.path(route), body: .object(members))
                #expect(answer.status == .badRequest, "\(member.name) \(wrong) \(answer.json)")
                #expect(answer.field?.hasPrefix(member.name) == true, "\(answer.json)")
            }
            guard member.isRequired else { continue }
            var members = example
            members[member.name] = nil
            let answer = try await world.send(
                route.method, world.path(route), body: .object(members))
            #expect(answer.problem == .missingField)
            #expect(answer.field == member.name)
        }
    }

    @Test(arguments: withBody.map(\.id))
    func `a body of another media type is refused as a whole`(_ id: String) async throws {
        let route = try #require(withBody.first { $0.id == id })
        let world = try await World()
        for wrong: JSON in [.null, [], "text", 1, true, [[:]]] {
            let answer = try await world.send(route.method, world.path(route), body: wrong)
            #expect(answer.problem == .invalidField)
        }
        let unknown = try await world.send(
            route.method, world.path(route), body: ["__proto__": [:]])
        #expect(unknown.problem == .unknownField)
        #expect(unknown.field == "__proto__")
    }

    @Test(arguments: withBody.map(\.id))
    func `a valid body is never answered with a 500`(_ id: String) async throws {
        let route = try #require(withBody.first { $0.id == id })
        let body = try #require(route.body)
        var random = SeededRandom(seed: 4711)
        let world = try await World()
        for _ in 0..<40 {
            let sample = body.schema.sample(&random)
            try body.schema.check(sample)
            let answer = try await world.send(route.method, world.path(route), body: sample)
            #expect(answer.status.code < 500, "\(sample) \(answer.json)")
        }
    }

    @Test(
        arguments: [
            (
                "clients", ["client_id": "a", "jwks": ["keys": [["kty": "EC", "kid": "a\u{0}"]]]],
                "jwks"
            ),
            ("clients", ["client_id": "a", "jwks": ["a\u{0}": 1]], "jwks"),
        ] as [(String, JSON, String)])
    func `a null character is refused also in open members of a body`(
        _ list: String, _ body: JSON, _ field: String
    ) async throws {
        let world = try await World()
        let answer = try await world.send(.post, "/api/admin/realms/acme/\(list)", body: body)
        #expect(answer.problem == .invalidField)
        #expect(answer.field == field)
    }

    @Test func `a null character is refused in a body of settings`() async throws {
        let world = try await World()
        let words: JSON = ["EmailOtp": ["de": ["subject": "a\u{0}b"]]]
        let answer = try await world.send(
            .patch, "/api/admin/realms/acme/settings", body: ["mail_words": words])
        #expect(answer.problem == .invalidField)
        #expect(answer.field?.hasPrefix("mail_words") == true)
    }

    @Test(arguments: [
        ("{\"realm\":}", 9), ("", 0), ("{}x", 2), ("{\"realm\":1.5}", 10), ("{\"a\":1,\"a\":2}", 7),
        ("\u{FEFF}{}", 0),
    ])
    func `a body that is not JSON is refused with the position of the fault`(
        _ text: String, _ offset: Int
    ) async throws {
        let world = try await World()
        let answer = try await world.send(
            Request(
                method: .post, path: "/api/admin/realms", query: nil,
                headers: [
                    "Authorization": "Bearer \(world.key.text)", "Content-Type": "application/json",
                ], body: Array(text.utf8), source: "", id: "r"))
        #expect(answer.problem == .malformedJSON)
        #expect(answer.json["detail"]?.string?.contains("at byte \(offset)") == true)
    }

    @Test(
        arguments: [
            (nil, false), ("text/plain", false), ("application/json", true),
            ("Application/JSON; charset=UTF-8", true), ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=utf-16", false), ("application/jsonp", false), ("", false),
            ("application/x-www-form-urlencoded", false), ("application/problem+json", false),
        ] as [(String?, Bool)])
    func `a body without the media type of JSON is refused`(_ type: String?, _ isAccepted: Bool)
        async throws
    {
        let world = try await World()
        var headers: Headers = ["Authorization": "Bearer \(world.key.text)"]
        headers["Content-Type"] = type
        let answer = try await world.send(
            Request(
                method: .post, path: "/api/admin/realms", query: nil, headers: headers,
                body: Array(#"{"realm":"new","display_name":"New"}"#.utf8), source: "", id: "r"))
        let refused = ProblemKind.unsupportedMediaType
        #expect(answer.problem == (isAccepted ? nil : refused))
    }

    @Test func `a body is refused by a route that takes none`() async throws {
        let world = try await World()
        let answer = try await world.send(
            .post, "/api/admin/realms/acme/disable", body: ["reason": "none"])
        #expect(answer.problem == .unexpectedBody)
    }
}
