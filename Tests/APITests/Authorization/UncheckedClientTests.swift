import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// RFC 9700 section 4.11.2: a client that nobody has checked makes no open redirector of the realm.
@Suite struct `Redirects to unchecked clients` {
    private static let place = "https://evil.example/back"
    private static let bye = "https://evil.example/bye"

    private enum Person: CaseIterable { case signedOut, signedIn, agreed }

    /// What can be wrong with a request that names a redirect URI of its client.
    private static let faulty: [Pairs] = [
        [("response_type", "token")], [("response_type", "-")], [("scope", "nothing")],
        [("resource", "not a uri")], [("resource", "https://elsewhere.example")],
        [("code_challenge", "-")], [("code_challenge_method", "plain")],
        [("prompt", "never")], [("prompt", "none login")], [("max_age", "soon")],
        [("claims", "{")], [("registration", "{}")], [("request", "a.b.c")],
        [("request_uri", "https://elsewhere.example/request")], [("dpop_jkt", "x")],
        [("id_token_hint", "a.b.c")], [("response_mode", "nothing")],
        [("nonce", String(repeating: "n", count: 600))],
        [("scope", "openid"), ("scope", "email")],
    ]

    private func site(isUnchecked: Bool, _ person: Person) async throws -> Site {
        let site = try await Site(web: [
            "token_endpoint_auth_method": "none", "consent": "needed",
            "resources_listed_only": .bool(isUnchecked), "resources": ["https://api.example"],
            "redirect_uris": [.string(Self.place)],
            "post_logout_redirect_uris": [.string(Self.bye)],
        ])
        guard person != .signedOut else { return site }
        try await site.signIn()
        guard person == .agreed else { return site }
        _ = try await agree(site)
        return site
    }

    private func asking(_ more: Pairs = []) -> Pairs {
        Site.request([("redirect_uri", Self.place)] + more)
    }

    private func agree(_ site: Site) async throws -> String {
        let asked = try site.sent(try await site.authorize(asking()))
        let sealed = try #require(asked.with["continue"])
        let returned = try #require(try await site.decide(sealed, allows: true).with["continue"])
        let back = try site.sent(try await site.authorize([("continue", returned)]))
        return try #require(back.with["code"])
    }

    /// Whether an answer leads a browser away by itself.
    private func leadsAway(_ answer: Answered, to place: String) -> Bool {
        let location = answer.response.headers["Location"]
        let text = String(decoding: answer.response.body, as: UTF8.self)
        return location?.hasPrefix(place) == true || text.contains("<script")
            || text.contains("http-equiv")
    }

    @Test(arguments: [false, true], Person.allCases)
    private func `an error leads to an unchecked client only for a person who agreed to it before`(
        isUnchecked: Bool, person: Person
    ) async throws {
        let site = try await site(isUnchecked: isUnchecked, person)
        let mayLead = !isUnchecked || person == .agreed
        var requests = Self.faulty + Self.faulty.map { $0 + [("response_mode", "fragment")] }
        requests += Self.faulty.map { $0 + [("response_mode", "form_post")] }
        if person != .agreed { requests.append([("prompt", "none")]) }
        for request in requests {
            // A form without a browser's cookie is first led to the same request by GET.
            let isMute = request.contains { $0.name == "prompt" && $0.value == "none" }
            for method in isMute ? [.get] : [HTTP.Method.get, .post] {
                let answer = try await site.authorize(asking(request), method: method)
                let told =
                    answer.response.headers["Location"] == nil && answer.status == .badRequest
                #expect(leadsAway(answer, to: Self.place) == mayLead, "\(method) \(request)")
                #expect(mayLead != told || !isUnchecked, "\(method) \(request)")
                guard !mayLead else { continue }
                let page = String(decoding: answer.response.body, as: UTF8.self)
                #expect(page.contains("<strong>evil.example</strong>"), "\(request): \(page)")
                #expect(page.contains("evil.example/back"), "The person may go on: \(request)")
            }
        }
    }

    @Test func `a person may go on to an unchecked app`() async throws {
        let app = "org.evil.app:/back"
        let site = try await Site(web: [
            "token_endpoint_auth_method": "none", "application_type": "native",
            "resources_listed_only": true, "redirect_uris": [.string(app)],
        ])
        let answer = try await site.authorize(
            Site.request([("redirect_uri", app), ("response_type", "token")]))
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(page.contains("<a href=\"\(app)?error=unsupported_response_type"), "\(page)")
        #expect(page.contains("<strong>org.evil.app:</strong>"))
    }

    @Test(arguments: [false, true])
    func `a person who denies an unchecked client is led nowhere`(isUnchecked: Bool) async throws {
        let site = try await site(isUnchecked: isUnchecked, .signedIn)
        let asked = try site.sent(try await site.authorize(asking()))
        let answer = try await site.decided(
            try #require(asked.with["continue"]), allows: false)
        #expect(leadsAway(answer, to: Self.place) != isUnchecked)
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(page.contains("access_denied") == isUnchecked)
    }

    @Test(arguments: [false, true], [false, true])
    func `a logout leads to an unchecked client only a person who agreed to it`(
        isUnchecked: Bool, isSignedOut: Bool
    ) async throws {
        let site = try await site(isUnchecked: isUnchecked, .signedIn)
        let tokens = try await site.redeem(
            try await agree(site),
            [("client_secret", "-"), ("redirect_uri", Self.place)])
        let hint = try #require(tokens.json["id_token"]?.string, "\(tokens.json)")
        var headers: Headers = ["Host": "id.acme.example"]
        if !isSignedOut { headers["Cookie"] = site.world.cookie("ann") }
        let query = Form.encode([
            ("id_token_hint", hint), ("post_logout_redirect_uri", Self.bye), ("state", "s"),
        ])
        let answer = Answered(
            await site.world.router.respond(
                to: Request(
                    method: .get, path: "/connect/logout", query: query, headers: headers,
                    body: [], source: "203.0.113.9", id: "request-7")))
        let mayLead = !isUnchecked || !isSignedOut
        #expect(leadsAway(answer, to: Self.bye) == mayLead)
        guard !mayLead else { return }
        let page = String(decoding: answer.response.body, as: UTF8.self)
        #expect(page.contains("<strong>evil.example</strong>"))
        #expect(page.contains("\(Self.bye)?state=s"))
    }
}
