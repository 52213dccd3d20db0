import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `MOD-05: A page's script with a mailed link` {
    private let world: SignInWorld

    init() async throws {
        world = try await SignInWorld(["registration": "jit_on_otp"])
    }

    private func login(
        _ link: [String: String], totp: String? = nil, _ more: Headers = [:]
    ) async -> Answered {
        var headers: Headers = ["Host": "id.acme.example", "Content-Type": "application/json"]
        for (name, value) in more { headers[name] = value }
        var members: JSONObject = [:]
        members["UserId"] = link["userId"].map { .string($0) }
        members["Token"] = link["token"].map { .string($0) }
        members["TotpCode"] = totp.map { .string($0) }
        return Answered(
            await world.router.respond(
                to: Request(
                    method: .post, path: "/api/account/magic-link/login", query: nil,
                    headers: headers, body: JSON.object(members).canonical(),
                    source: "203.0.113.7", id: "request-6")))
    }

    private func link(to place: String = "/account") async throws -> [String: String] {
        world.clock.advance(seconds: 900)
        _ = try await world.requestLink(["Email": "ann@example.org", "ReturnUrl": .string(place)])
        return try await world.mailedLink()
    }

    private func isSignedIn(_ answer: Answered) async throws -> Bool {
        let cookies = answer.response.headers.all("Set-Cookie").compactMap {
            $0.split(separator: ";").first.map(String.init)
        }
        guard !cookies.isEmpty else { return false }
        let page = await world.router.respond(
            to: Request(
                method: .get, path: "/account", query: nil,
                headers: [
                    "Host": "id.acme.example", "Cookie": cookies.joined(separator: "; "),
                ], body: [], source: "203.0.113.7", id: "request-7"))
        return page.status == .ok
    }

    @Test func `MOD-05: a page's script gets a session for a mailed link, once`() async throws {
        _ = try await world.join()
        let link = try await link(to: "/account/security")
        let answer = await login(link, ["Sec-Fetch-Site": "same-origin"])
        #expect(answer.status == .ok)
        #expect(answer.json == ["RequiresMfa": false, "ReturnUrl": "/account/security"])
        #expect(try await isSignedIn(answer))
        for used in [link, [:], ["userId": link["userId"] ?? "", "token": "x"]] {
            let again = await login(used)
            #expect(again.status == .unauthorized)
            #expect(again.json == ["Message": "Invalid or expired link"])
            #expect(try await !isSignedIn(again))
        }
        let refused = try await world.log.events(from: 1, limit: .max, in: world.realm)
            .filter { $0.name == "browser.refused" }
        #expect(refused.map { $0.open["reason"] } == ["invalid_link"])
    }

    @Test func `MOD-05: a page's script is asked for the second factor without using the link up`()
        async throws
    {
        let (app, _) = try await world.enroll(try await world.token())
        let link = try await link()
        for _ in 0..<2 {
            let owed = await login(link)
            #expect(owed.status == .ok)
            #expect(owed.json == ["RequiresMfa": true, "MfaMethods": ["totp"]])
            #expect(try await !isSignedIn(owed))
        }
        let answer = await login(link, totp: try app.code(at: world.clock))
        #expect(answer.json["RequiresMfa"] == false)
        #expect(try await isSignedIn(answer))
    }

    @Test func `MOD-05: a mailed link signs a browser in only from a page of this site`()
        async throws
    {
        _ = try await world.join()
        let link = try await link()
        let foreign: [Headers] = [
            ["Sec-Fetch-Site": "cross-site"], ["Origin": "https://evil.example"],
            ["Sec-Fetch-Site": "same-site", "Origin": "http://id.acme.example"],
        ]
        for headers in foreign {
            let refused = await login(link, headers)
            #expect(refused.status == .forbidden)
            #expect(try await !isSignedIn(refused))
        }
        // What a form of any page could send.
        #expect(await login(link, ["Content-Type": "text/plain"]).status == .unsupportedMediaType)
        #expect(await login(link).status == .ok)
    }
}
