import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

extension SignInWorld {
    func requestLink(_ members: JSONObject) async throws -> Answered {
        try await post("/api/account/magic-link/request", json: members)
    }

    /// What the last mail with a link would bring: the query of its address, by name.
    func mailedLink() async throws -> [String: String] {
        let address = try await mailedAddress()
        let query = try #require(address.split(separator: "?").last)
        let pairs = try #require(Form.parse(String(query)))
        return Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    func mailedAddress() async throws -> String {
        let events = try await log.events(from: 1, limit: .max, in: realm)
        let recorded = try #require(events.last { $0.name == "link.issued" })
        let stream = try await log.stream(recorded.stream, after: 0, in: realm)
        let opened = try #require(stream.last { $0.name == "link.issued" })
        guard case .linkIssued(let link) = MailboxEvent(opened) else {
            throw Problem(.internalError)
        }
        return try #require(mint.address(of: link))
    }

    func redeem(
        link: [String: String], client: String = "phone", more: [(name: String, value: String)] = []
    ) async throws -> Answered {
        try await post(
            "/connect/token",
            form: [
                ("grant_type", "urn:cocoar:magic"), ("client_id", client),
                ("user_id", link["userId"] ?? ""), ("magic_token", link["token"] ?? ""),
                ("scope", "openid email offline_access"),
            ] + more)
    }

    /// Ann has an account, made by a mailed code.
    func join() async throws -> JSON {
        _ = try await requestCode(["Email": "ann@example.org"])
        return try await redeem(try await mailedCode()).json
    }
}

@Suite struct `MOD-05: Signing in by a mailed link` {
    @Test func `MOD-05: a mailed link signs an account in once`() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "links_base_url": "https://login.acme.example/",
        ])
        let first = try await world.join()
        let asked = try await world.requestLink([
            "Email": " Ann@Example.org ", "ReturnUrl": "/basket?a=b",
        ])
        #expect(asked.status == .ok)
        #expect(
            asked.json["Message"]
                == "If your email is registered, you will receive a login link.")
        let address = try await world.mailedAddress()
        #expect(address.hasPrefix("https://login.acme.example/magic-login?userId="), "\(address)")
        let link = try await world.mailedLink()
        #expect(link["redirect"] == "/basket?a=b")
        #expect(link["token"]?.utf8.count == 43, "32 bytes.")
        let answer = try await world.redeem(link: link)
        #expect(answer.status == .ok)
        #expect(answer.json["refresh_token"] != nil)
        let before = try #require(first["access_token"]?.string)
        let access = try #require(answer.json["access_token"]?.string)
        let subject = try await world.introspect(access)["sub"]
        #expect(subject?.string == link["userId"])
        #expect(try await world.introspect(before)["sub"] == subject, "The same account.")
        let again = try await world.redeem(link: link)
        #expect(again.status == .badRequest)
        #expect(again.json["error"] == "invalid_grant")
        #expect(again.json["error_description"] == "Invalid or expired link.")
    }

    @Test func `MOD-05: a mailed link is requested with the same answer for every address`()
        async throws
    {
        let world = try await SignInWorld()
        let closed = try await SignInWorld(["native_grants": false])
        _ = try await world.join()
        let message = try await world.requestLink(["Email": "ann@example.org"])
        #expect(message.status == .ok)
        for members: JSONObject in [
            ["email": "bob@example.org"], ["Email": ""], ["Email": "no address"], [:],
            ["Email": "ann@example.org", "ReturnUrl": "https://evil.example"],
        ] {
            for world in [world, closed] {
                let answer = try await world.requestLink(members)
                #expect(answer.status == message.status)
                #expect(answer.response.body == message.response.body)
            }
        }
        #expect(try await world.events().filter { $0 == "link.issued" }.count == 1)
    }

    @Test func `MOD-05: a mailed link leads to its own origin alone`() async throws {
        let world = try await SignInWorld()
        _ = try await world.join()
        _ = try await world.requestLink(["Email": "ann@example.org", "ReturnUrl": "//evil.example"])
        #expect(try await world.mailedLink()["redirect"] == nil)
    }

    @Test
    func `MOD-05: a mailed link needs its own account, an allowed client and an allowing realm`()
        async throws
    {
        let world = try await SignInWorld()
        _ = try await world.join()
        _ = try await world.requestLink(["Email": "ann@example.org"])
        let link = try await world.mailedLink()
        let token = try #require(link["token"])
        for wrong in [
            [:], ["userId": "x", "token": token], ["token": token],
            ["userId": link["userId"] ?? "", "token": ""],
            ["userId": link["userId"] ?? "", "token": String(token.dropLast()) + "_"],
            ["userId": link["userId"] ?? "", "token": world.mint.magicToken(.random())],
            ["userId": UUID.random().description, "token": token],
        ] {
            let answer = try await world.redeem(link: wrong)
            #expect(answer.status == .badRequest)
            #expect(answer.json["error_description"] == "Invalid or expired link.", "\(wrong)")
        }
        let service = try await world.redeem(link: link, client: "nobody")
        #expect(service.status == .unauthorized)
        try await world.carryOut(RealmChange.setSettings(["native_grants": false]))
        let off = try await world.redeem(link: link)
        #expect(off.json["error"] == "unsupported_grant_type")
        try await world.carryOut(RealmChange.setSettings(["native_grants": true]))
        #expect(try await world.redeem(link: link).status == .ok, "None of it used the link up.")
    }

    @Test func `MOD-05: a mailed link used fifty times at once signs in once`() async throws {
        let world = try await SignInWorld()
        _ = try await world.join()
        _ = try await world.requestLink(["Email": "ann@example.org"])
        let link = try await world.mailedLink()
        let answers = try await withThrowingTaskGroup(of: Status.self) { group in
            for _ in 0..<50 { group.addTask { try await world.redeem(link: link).status } }
            return try await group.reduce(into: [Status]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == .ok } == 1)
        #expect(try await world.events().filter { $0 == "session.opened" }.count == 2)
    }

    @Test func `MOD-05: a mailed link is stored unreadable and does nothing by GET`() async throws {
        let world = try await SignInWorld()
        _ = try await world.join()
        _ = try await world.requestLink(["Email": "ann@example.org", "ReturnUrl": "/secret-place"])
        let token = try #require(try await world.mailedLink()["token"])
        let events = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let open = events.map { String(decoding: JSON.object($0.open).canonical(), as: UTF8.self) }
            .joined()
        #expect(!open.contains(token) && !open.contains("secret-place"))
        #expect(!open.contains("ann@example.org"))
        let opened = await world.router.respond(
            to: Request(
                method: .get, path: "/api/account/magic-link/request", query: nil,
                headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.7", id: "r"))
        #expect(opened.status == .methodNotAllowed)
    }

    @Test func `MOD-05: a mailed link is sent to one mailbox five times an hour at most`()
        async throws
    {
        let world = try await SignInWorld()
        for _ in 0..<5 {
            #expect(try await world.requestLink(["Email": "bob@example.org"]).status == .ok)
        }
        let refused = try await world.requestLink(["Email": "Bob@example.org"])
        #expect(refused.status == .tooManyRequests)
        #expect(refused.json["policy"] == "magic-link")
        #expect(refused.response.headers["Retry-After"] != nil)
    }
}
