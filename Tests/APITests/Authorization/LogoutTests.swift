import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `Logging out at a client` {
    private static let bye = "https://web.example/bye"

    private func world(_ settings: JSONObject = [:]) async throws -> AuthorizeWorld {
        let world = try await Site(
            settings,
            web: [
                "post_logout_redirect_uris": [.string(Self.bye)],
                "backchannel_logout_uri": "https://web.example/out",
            ])
        try await world.signIn()
        return world
    }

    private func tokens(
        _ world: AuthorizeWorld, scope: String = "openid", client: String = "web"
    ) async throws -> (access: String, id: String) {
        let code = try await world.code(
            Site.request([("scope", scope), ("client_id", client)]))
        let answer = try await world.redeem(code, [("client_id", client)])
        return (
            try #require(answer.json["access_token"]?.string),
            try #require(answer.json["id_token"]?.string)
        )
    }

    /// The answer may take a cookie away, which others never do.
    private func logOut(
        _ world: AuthorizeWorld, _ pairs: Pairs, method: HTTP.Method = .get,
        browser: String = "ann"
    ) async -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        headers["Cookie"] = world.world.cookie(browser)
        return Answered(
            await world.world.router.respond(
                to: Request(
                    method: method, path: "/connect/logout",
                    query: method == .get ? Form.encode(pairs) : nil, headers: headers,
                    body: method == .get ? [] : Array(Form.encode(pairs).utf8),
                    source: "203.0.113.9", id: "request-7")))
    }

    private func isAlive(_ world: AuthorizeWorld, _ token: String) async throws -> Bool {
        try await world.world.introspect(token)["active"] == true
    }

    @Test func `logging out at a client keeps the issuer of its session, at any host of a refresh`()
        async throws
    {
        let world = try await world()
        world.world.directory.add(
            world.world.realm, hosts: ["shop.acme.example"], ["native_grants": true])
        let first = try await world.redeem(try await world.code())
        let form: Pairs = [
            ("grant_type", "refresh_token"), ("client_id", "web"),
            ("client_secret", SignInWorld.secret),
            ("refresh_token", first.json["refresh_token"]?.string ?? ""),
        ]
        let next = try await world.world.send(
            Request(
                method: .post, path: "/connect/token", query: nil,
                headers: [
                    "Host": "shop.acme.example",
                    "Content-Type": "application/x-www-form-urlencoded",
                ], body: Array(Form.encode(form).utf8), source: "203.0.113.9", id: "request-8"))
        #expect(next.status == .ok)
        #expect(try await world.idToken(next, nonce: nil).issuer == Site.issuer)
    }

    @Test(arguments: [HTTP.Method.get, .post])
    func `logging out at a client ends the browser's session and its tokens, and redirects back`(
        method: HTTP.Method
    ) async throws {
        let world = try await world()
        let (access, hint) = try await tokens(world)
        let answer = await logOut(
            world,
            [("id_token_hint", hint), ("post_logout_redirect_uri", Self.bye), ("state", "s&1")],
            method: method)
        #expect(answer.status == .seeOther)
        #expect(answer.response.headers["Location"] == Self.bye + "?state=s%261")
        #expect(answer.response.headers["Set-Cookie"]?.hasPrefix("__Host-urd=;") == true)
        #expect(try await !isAlive(world, access))
        let mute = try await world.authorize(Site.request([("prompt", "none")]))
        #expect(try world.sent(mute).with["error"] == "login_required")
    }

    @Test func `logging out at a client adds no state that was not sent`() async throws {
        let world = try await world()
        let hint = try await tokens(world).id
        let answer = await logOut(
            world, [("id_token_hint", hint), ("post_logout_redirect_uri", Self.bye)])
        #expect(answer.response.headers["Location"] == Self.bye)
    }

    @Test func `logging out at a client redirects nowhere without its own URI and hint`()
        async throws
    {
        let world = try await world()
        let (access, hint) = try await tokens(world)
        // Under the name of the realm's own key, so that it is the signature that is looked at.
        let name = try #require(try header(of: hint)["kid"]?.string)
        let key = try SigningKey.generate(.rs256, id: name)
        let claims = try Claims(
            payload: try #require(Base64URL.decode(String(hint.split(separator: ".")[1]))))
        let forged = try JWS.sign(
            JSON.object(claims.members).canonical(), by: key, type: "JWT")
        let parts = hint.split(separator: ".").map(String.init)
        let unsigned = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + ".\(parts[1])."
        let cases: [Pairs] = [
            [("id_token_hint", hint), ("post_logout_redirect_uri", "https://evil.example/")],
            [("id_token_hint", hint), ("post_logout_redirect_uri", Self.bye + "?x=1")],
            [("id_token_hint", forged), ("post_logout_redirect_uri", Self.bye)],
            [("id_token_hint", unsigned), ("post_logout_redirect_uri", Self.bye)],
            [("id_token_hint", access), ("post_logout_redirect_uri", Self.bye)],
            [("id_token_hint", hint), ("client_id", "app")],
            [("id_token_hint", hint), ("state", "a"), ("state", "b")],
        ]
        for pairs in cases {
            let answer = await logOut(world, pairs)
            #expect(answer.status == .badRequest && answer.response.headers["Location"] == nil)
        }
        for pairs: Pairs in [
            [("post_logout_redirect_uri", Self.bye)], [("state", "s")], [],
            [("client_id", "web"), ("post_logout_redirect_uri", Self.bye)],
        ] {
            let answer = await logOut(world, pairs)
            #expect(answer.response.headers["Location"] == "/logout", "Somebody is asked first.")
        }
        #expect(try await isAlive(world, access))
    }

    @Test(arguments: [HTTP.Method.get, .post])
    func `logging out at a client keeps the requested language on its pages`(
        method: HTTP.Method
    ) async throws {
        let world = try await world()
        let hint = try await tokens(world).id
        for (tags, wanted) in [("fr de-CH en", "?ui_locales=de"), ("fr", ""), ("", "")] {
            let languages: Pairs = [("ui_locales", tags)]
            let asked = await logOut(world, languages, method: method)
            #expect(asked.response.headers["Location"] == "/logout" + wanted)
            var nobody = await logOut(world, languages, method: method, browser: "nobody")
            // A form without a cookie goes on by its address.
            if method == .post {
                let query = nobody.response.headers["Location"]?.dropFirst("/connect/logout?".count)
                nobody = await logOut(
                    world, Form.parse(String(query ?? "")) ?? [], browser: "nobody")
            }
            #expect(nobody.response.headers["Location"] == "/logged-out" + wanted)
        }
        let done = await logOut(
            world, [("id_token_hint", hint), ("ui_locales", "de")], method: method)
        #expect(done.response.headers["Location"] == "/logged-out?ui_locales=de")
    }

    @Test func `logging out at a client asks first where another person is signed in`()
        async throws
    {
        let world = try await world()
        let (access, hint) = try await tokens(world)
        try await world.world.signIn("bob", as: .random())
        let other = await logOut(world, [("id_token_hint", hint)], browser: "bob")
        #expect(other.response.headers["Location"] == "/logout")
        #expect(try await isAlive(world, access))
        let nobody = await logOut(world, [("id_token_hint", hint)], browser: "nobody")
        #expect(nobody.response.headers["Location"] == "/logged-out")
        #expect(try await isAlive(world, access))
    }

    /// A browser that was never signed in, or is so no more: a stranger who kept an ID token could be there.
    @Test(arguments: [true, false])
    func `logging out at a client by an old ID token alone ends nothing`(isSignedOut: Bool)
        async throws
    {
        let world = try await world()
        let (access, hint) = try await tokens(world, scope: "openid offline_access")
        if isSignedOut { world.world.browsers.signOut("ann") }
        let answer = await logOut(
            world, [("id_token_hint", hint), ("post_logout_redirect_uri", Self.bye)],
            browser: isSignedOut ? "ann" : "nobody")
        #expect(answer.response.headers["Location"] == Self.bye)
        #expect(try await isAlive(world, access))
        #expect(try await !world.world.events().contains("session.ended"))
    }

    @Test func `logging out at a client leaves its offline access, unless the realm ends it too`()
        async throws
    {
        for isEnded in [false, true] {
            let world = try await world(["logout_ends_offline_access": .bool(isEnded)])
            try await world.register("other", [:])
            let offline = try await tokens(world, scope: "openid offline_access", client: "other")
            let online = try await tokens(world)
            _ = await logOut(world, [("id_token_hint", online.id)])
            #expect(try await !isAlive(world, online.access))
            #expect(try await isAlive(world, offline.access) != isEnded)
        }
        // What the client itself has that asks is over in any case.
        let world = try await world()
        let offline = try await tokens(world, scope: "openid offline_access")
        _ = await logOut(world, [("id_token_hint", offline.id)])
        #expect(try await !isAlive(world, offline.access))
    }

    @Test func `logging out at a client ends all that it has of this browser, and of no other`()
        async throws
    {
        let world = try await world()
        try await world.register("other", [:])
        let offline = "openid offline_access"
        let first = try await tokens(world, scope: offline)
        let second = try await tokens(world, scope: offline)
        let online = try await tokens(world)
        let another = try await tokens(world, scope: offline, client: "other")
        try await world.world.signIn("laptop", as: world.ann)
        let code = try world.sent(
            try await world.authorize(Site.request([("scope", offline)]), browser: "laptop"))
        let elsewhere = try await world.redeem(try #require(code.with["code"]))
        let answer = await logOut(
            world, [("id_token_hint", second.id), ("post_logout_redirect_uri", Self.bye)])
        #expect(answer.response.headers["Location"] == Self.bye)
        for token in [first, second, online] {
            #expect(try await !isAlive(world, token.access))
        }
        #expect(try await isAlive(world, another.access))
        let other = try #require(elsewhere.json["access_token"]?.string)
        #expect(try await isAlive(world, other))
    }

    @Test
    func `logging out by an unknown session is not confirmed while a person is signed in`()
        async throws
    {
        let world = try await world()
        let hint = try await tokens(world).id
        let parts = hint.split(separator: ".").map(String.init)
        var claims = try JSON.parse(try #require(Base64URL.decode(parts[1]))).object ?? [:]
        claims["sid"] = .string(UUID.random().description)
        let (log, clock) = (world.world.log, world.world.clock)
        let keys = try await TokenKeys(
            commands: Dispatcher(log: log),
            clock: RealmContext.Clock(now: { clock.next() }, passed: { .zero }),
            revision: { _ in log.revision }, generate: { try SigningKey.pooled($0) }
        ).keys(of: world.world.realm)
        let unknown = try JWS.sign(
            JSON.object(claims).canonical(), by: try #require(keys.active[.rs256]), type: "JWT")
        let request: Pairs = [
            ("id_token_hint", unknown), ("post_logout_redirect_uri", Self.bye),
        ]
        #expect(await logOut(world, request).response.headers["Location"] == "/logout")
        #expect(
            await logOut(world, request, browser: "nobody").response.headers["Location"]
                == Self.bye)
    }

    private struct Told {
        let letter: LogoutLetter
        let claims: Claims
    }

    private func told(_ world: AuthorizeWorld) async throws -> [Told] {
        let mint = world.world.mint
        let (log, clock) = (world.world.log, world.world.clock)
        let realmClock = RealmContext.Clock(
            now: { clock.next() }, passed: { .seconds(clock.next().seconds) })
        let letters = LogoutLetters(
            mint: { _ in mint },
            keys: TokenKeys(
                commands: Dispatcher(log: log), clock: realmClock, revision: { _ in log.revision },
                generate: { try SigningKey.pooled($0) }),
            events: log, queries: MemoryQueries(log: log), clock: realmClock)
        var found: [Told] = []
        for event in try await log.events(from: 1, limit: .max, in: world.world.realm)
        where ["session.ended", "session.detached"].contains(event.name) {
            guard
                let letter = try await letters.letter(
                    at: event.position, in: world.world.realm)
            else { continue }
            let verified = try JWS.verify(
                letter.token, by: try await world.world.keySet(),
                rules: JWS.Rules(types: TokenTypes(["logout+jwt"])))
            #expect(verified.type == "logout+jwt")
            found.append(Told(letter: letter, claims: try Claims(payload: verified.payload)))
        }
        return found
    }

    @Test func `logging out notifies each client by a logout token of its own`() async throws {
        let world = try await world()
        let hint = try await tokens(world).id
        _ = try await tokens(world)
        #expect(try await told(world).isEmpty)
        _ = await logOut(world, [("id_token_hint", hint)])
        let letters = try await told(world)
        #expect(letters.count == 2)
        for told in letters {
            #expect(told.letter.address == "https://web.example/out")
            let claims = told.claims
            #expect(claims.issuer == Site.issuer && claims.audience == ["web"])
            #expect(claims.subject == world.ann.description)
            #expect(claims.id != nil && claims.issuedAt != nil && claims.expiresAt != nil)
            #expect(claims.members["nonce"] == nil)
            let event = "http://schemas.openid.net/event/backchannel-logout"
            #expect(claims.members["events"] == .object([event: [:]]))
        }
        let hinted = try Claims(
            payload: try #require(Base64URL.decode(String(hint.split(separator: ".")[1]))))
        #expect(letters.contains { $0.claims.members["sid"] == hinted.members["sid"] })
    }

    @Test func `logging out notifies a client once whose offline access stays`() async throws {
        let world = try await world()
        let other: JSONObject = ["backchannel_logout_uri": "https://other.example/out"]
        try await world.register("other", other)
        try await world.register("deaf", [:])
        let scope = "openid offline_access"
        let offline = try await tokens(world, scope: scope, client: "other")
        _ = try await tokens(world, scope: scope, client: "deaf")
        let online = try await tokens(world)
        _ = await logOut(world, [("id_token_hint", online.id)])
        #expect(try await isAlive(world, offline.access))
        let letters = try await told(world)
        #expect(
            letters.map(\.letter.address).sorted() == [
                "https://other.example/out", "https://web.example/out",
            ])
        let hinted = try Claims(
            payload: try #require(
                Base64URL.decode(String(offline.id.split(separator: ".")[1]))))
        let claims = try #require(letters.first { $0.claims.audience == ["other"] }).claims
        #expect(claims.members["sid"] == hinted.members["sid"])
        // The browser signs in and out again: what was told is not told again.
        try await world.signIn()
        let again = try await tokens(world)
        _ = await logOut(world, [("id_token_hint", again.id)])
        let later = try await told(world)
        #expect(later.count { $0.claims.audience == ["other"] } == 1)
        #expect(later.count == 3)
    }

    @Test func `logging out after a second login in one browser ends what came of both`()
        async throws
    {
        let world = try await world()
        let before = try await tokens(world)
        let first = try #require(world.world.browsers["ann"]).session
        try await world.world.signIn("ann", as: world.ann, line: first)
        let after = try await tokens(world)
        _ = await logOut(world, [("id_token_hint", after.id)])
        #expect(try await !isAlive(world, before.access))
        #expect(try await !isAlive(world, after.access))
    }
}
