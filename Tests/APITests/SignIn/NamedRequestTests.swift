import Cryptography
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// A client gives its request with a mailed code or link a name, and its answer is lost with the node.
@Suite struct `A request that its client has named` {
    private typealias Form = [(name: String, value: String)]

    private func form(_ code: String, _ more: Form = []) -> Form {
        let usual: Form = [
            ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"),
            ("username", "ann@example.org"), ("otp_code", code),
            ("scope", "openid email offline_access"),
        ]
        let names = Set(more.map(\.name))
        return usual.filter { !names.contains($0.name) } + more
    }

    private func send(
        _ form: Form, named name: String?, at node: Router
    ) async -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        headers["Idempotency-Key"] = name
        return Answered(
            await node.respond(
                to: Request(
                    method: .post, path: "/connect/token", query: nil, headers: headers,
                    body: Array(HTTP.Form.encode(form).utf8), source: "203.0.113.7",
                    id: "request-17")))
    }

    private static func newName() -> String { UUID.random().description }

    private func world() async throws -> (SignInWorld, code: String) {
        let world = try await SignInWorld([
            "registration": "jit_on_otp",
            "rate_limits": ["email-otp-verify": ["target": .null]],
        ])
        _ = try await world.requestCode(["Email": "ann@example.org"])
        return (world, try await world.mailedCode())
    }

    private func opened(_ world: SignInWorld) async throws -> Int {
        try await world.events().count { $0 == "session.opened" }
    }

    @Test(arguments: ["code", "link"])
    func `a named request has its answer again at another node, and opens no second session`(
        by way: String
    ) async throws {
        let (world, code) = try await world()
        var sent = form(code)
        if way == "link" {
            _ = try await world.redeem(code)
            _ = try await world.requestLink(["Email": "ann@example.org"])
            let link = try await world.mailedLink()
            sent = [
                ("grant_type", "urn:cocoar:magic"), ("client_id", "phone"),
                ("user_id", link["userId"] ?? ""), ("magic_token", link["token"] ?? ""),
                ("scope", "openid offline_access"),
            ]
        }
        let (name, before) = (Self.newName(), try await opened(world))
        let first = await send(sent, named: name, at: world.router)
        #expect(first.status == .ok, "\(first.json)")
        let again = await send(sent, named: name, at: world.otherNode())
        #expect(again.status == .ok, "\(again.json)")
        #expect(again.json["refresh_token"] == first.json["refresh_token"])
        #expect(again.json["scope"] == first.json["scope"])
        #expect(try await opened(world) == before + 1)
        #expect(try await world.refresh(again.json, "phone").status == .ok)
        // Once it is known that the answer came, there is no other.
        let late = await send(sent, named: name, at: world.otherNode())
        #expect(late.json["error"] == "invalid_grant")
    }

    @Test func `a code is good once for who has not all that its request said`() async throws {
        let (world, code) = try await world()
        try await world.registerPhone("other", ["grant_types": ["urn:cocoar:otp"]])
        let name = Self.newName()
        #expect(await send(form(code), named: name, at: world.router).status == .ok)
        let node = world.otherNode()
        let attempts: [(Form, String?)] = [
            (form(code), nil), (form(code), Self.newName()),
            (form(code, [("scope", "openid")]), name),
            (form(code, [("client_id", "other")]), name),
            (form(code, [("username", "ANN@example.org")]), name),
            (form("000000"), name),
        ]
        for (sent, name) in attempts {
            let answer = await send(sent, named: name, at: node)
            #expect(answer.json["error"] == "invalid_grant", "\(answer.json)")
        }
        #expect(try await opened(world) == 1)
    }

    @Test func `a name that can be guessed counts for nothing`() async throws {
        let (world, code) = try await world()
        let name = String(repeating: "7", count: 21)
        #expect(await send(form(code), named: name, at: world.router).status == .ok)
        let again = await send(form(code), named: name, at: world.router)
        #expect(again.json["error"] == "invalid_grant")
    }

    @Test(arguments: ["a minute", "log-out", "closed account", "new stamp", "disabled client"])
    func `a named request has no answer again after`(_ end: String) async throws {
        let (world, code) = try await world()
        let name = Self.newName()
        let first = await send(form(code), named: name, at: world.router)
        let token = try #require(first.json["access_token"]?.string)
        let account = try #require(
            try await world.userInfo(token).json["sub"]?.string.flatMap { UUID($0) })
        switch end {
        case "a minute": world.clock.advance(seconds: 60)
        case "log-out":
            _ = try await world.post(
                "/connect/revoke", form: [("client_id", "phone"), ("token", token)])
        case "closed account": try await world.carryOut(AccountChange.disable(account))
        case "new stamp": try await world.carryOut(RotateSecurityStamp(account: account))
        default:
            let client = try #require(
                try await MemoryQueries(log: world.log).ask(
                    KnownClient.byClientID, "phone", in: world.realm))
            try await world.carryOut(ClientChange.disable(client.id))
        }
        let again = await send(form(code), named: name, at: world.otherNode())
        #expect(again.status.code >= 400, "\(again.json)")
        #expect(again.json["access_token"] == nil)
        #expect(try await opened(world) == 1)
    }

    @Test func `a named request sent fifty times at once opens one session`() async throws {
        let (world, code) = try await world()
        let (name, nodes) = (Self.newName(), [world.router, world.otherNode()])
        let sent = form(code)
        let answers = await withTaskGroup(of: Answered.self) { group in
            for number in 0..<50 {
                group.addTask { await send(sent, named: name, at: nodes[number % 2]) }
            }
            return await group.reduce(into: [Answered]()) { $0.append($1) }
        }
        #expect(Set(answers.map { $0.json["refresh_token"] }).subtracting([nil]).count == 1)
        #expect(answers.contains { $0.status == .ok })
        #expect(try await opened(world) == 1)
    }
}
