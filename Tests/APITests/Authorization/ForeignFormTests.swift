import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// A browser sends them without the cookie of who is signed in, and the address that they lead to with it.
@Suite struct `Cross-site forms` {
    private static let bye = "https://web.example/bye"

    private func world() async throws -> AuthorizeWorld {
        let world = try await Site(
            ["logout_ends_offline_access": true],
            web: ["post_logout_redirect_uris": [.string(Self.bye)]])
        try await world.signIn()
        return world
    }

    /// Where a form leads whose sender's browser keeps the cookie back.
    private func led(
        _ world: AuthorizeWorld, _ path: String, _ pairs: Pairs
    ) async throws -> String {
        let answer = try await world.visit(path, pairs, browser: "nobody", method: .post)
        #expect(answer.status == .seeOther && answer.response.headers["Set-Cookie"] == nil)
        return try #require(answer.response.headers["Location"])
    }

    private func follow(
        _ world: AuthorizeWorld, _ location: String, browser: String = "ann"
    ) async throws -> Answered {
        let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
        var headers: Headers = ["Host": "id.acme.example"]
        headers["Cookie"] = world.world.cookie(browser)
        return Answered(
            await world.world.router.respond(
                to: Request(
                    method: .get, path: parts.first ?? "", query: parts.count == 2 ? parts[1] : nil,
                    headers: headers, body: [], source: "203.0.113.9", id: "request-7")))
    }

    @Test(arguments: [[], [("prompt", "none")]] as [Pairs])
    func `a cross-site form post gets a code for the signed-in person, as a GET does`(more: Pairs)
        async throws
    {
        let world = try await world()
        let place = try await led(world, "/connect/authorize", Site.request(more))
        #expect(place.hasPrefix("/connect/authorize?continue=") && !place.contains("state"))
        let back = try world.sent(try await follow(world, place))
        #expect(back.to == Site.back && back.with["state"] == "a state&more")
        let tokens = try await world.redeem(try #require(back.with["code"]))
        #expect(try await world.idToken(tokens).subject == world.ann.description)
    }

    @Test func `a cross-site form post leads to the login where a sign-in is needed`()
        async throws
    {
        let world = try await world()
        let mute = try await led(
            world, "/connect/authorize", Site.request([("prompt", "none")]))
        let nobody = try world.sent(try await follow(world, mute, browser: "nobody"))
        #expect(nobody.to == Site.back && nobody.with["error"] == "login_required")
        let anew = try await led(
            world, "/connect/authorize", Site.request([("prompt", "login")]))
        // Whoever is signed in at that very second has shown nothing for it yet.
        let login = try world.sent(try await follow(world, anew))
        #expect(login.to == "/login" && login.with["code"] == nil)
        world.world.clock.advance(seconds: 5)
        try await world.signIn()
        let again = try world.sent(try await follow(world, anew))
        #expect(again.to == "/login", "The login was for what is told apart from it.")
        let sealed = try #require(login.with["continue"])
        let back = try world.sent(
            try await follow(world, "/connect/authorize?continue=\(sealed)"))
        #expect(back.with["code"] != nil)
    }

    @Test func `a cross-site form post tells the client at once what is wrong with its request`()
        async throws
    {
        let world = try await world()
        let answer = try await world.authorize(
            Site.request([("scope", "nothing")]), browser: "nobody", method: .post)
        #expect(try world.sent(answer).with["error"] == "invalid_scope")
    }

    @Test func `a cross-site logout form logs out its browser and ends what came of its session`()
        async throws
    {
        let world = try await world()
        let tokens = try await world.redeem(try await world.code()).json
        let place = try await led(
            world, "/connect/logout",
            [
                ("id_token_hint", tokens["id_token"]?.string ?? ""), ("state", "s&1"),
                ("post_logout_redirect_uri", Self.bye), ("other", "x"),
            ])
        #expect(place.hasPrefix("/connect/logout?id_token_hint=") && !place.contains("other"))
        let mute: Pairs = [("prompt", "none")]
        #expect(
            try world.sent(try await world.authorize(Site.request(mute))).with["code"] != nil,
            "Nothing has ended yet.")
        let answer = try await follow(world, place)
        #expect(answer.response.headers["Location"] == Self.bye + "?state=s%261")
        #expect(answer.response.headers["Set-Cookie"]?.hasPrefix("__Host-urd=;") == true)
        let after = try world.sent(try await world.authorize(Site.request(mute)))
        #expect(after.with["error"] == "login_required")
        let token = tokens["access_token"]?.string ?? ""
        #expect(try await world.world.introspect(token)["active"] == false)
    }

    @Test
    func `a cross-site logout form without a hint asks first, or says that nobody is signed in`()
        async throws
    {
        let world = try await world()
        for pairs: Pairs in [[], [("post_logout_redirect_uri", Self.bye), ("state", "s")]] {
            let place = try await led(world, "/connect/logout", pairs)
            let answer = try await follow(world, place)
            #expect(answer.response.headers["Location"] == "/logout", "He is asked first.")
        }
        let nobody = try await follow(
            world, try await led(world, "/connect/logout", []), browser: "nobody")
        #expect(nobody.response.headers["Location"] == "/logged-out")
        let long = try await world.visit(
            "/connect/logout", [("state", String(repeating: "s", count: 7_000))],
            browser: "nobody", method: .post)
        #expect(long.status == .badRequest && long.response.headers["Location"] == nil)
    }
}
