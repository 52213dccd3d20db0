import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `Authorization requests before a code` {
    /// Goes to the login page and comes back.
    private func detour(
        _ world: Site, _ more: Pairs, by factors: [AuthenticationFactor] = [.mailedCode]
    ) async throws -> Answered {
        let answer = try await world.authorize(Site.request(more))
        let (place, members) = try world.sent(answer)
        #expect(place == "/login" && members["code"] == nil)
        let sealed = try #require(members["continue"])
        // Who comes back as he went has done nothing.
        if world.world.browsers.isSignedIn("ann") {
            let again = try await world.authorize([("continue", sealed)])
            #expect(try world.sent(again).to == "/login")
        }
        try await world.signIn(by: factors)
        return try await world.authorize([("continue", sealed)])
    }

    @Test func `an authorization request leads through the login and back to itself`() async throws
    {
        let world = try await Site()
        let answer = try await detour(world, [])
        let (place, members) = try world.sent(answer)
        #expect(place == Site.back && members["state"] == "a state&more")
        let tokens = try await world.redeem(try #require(members["code"]))
        #expect(try await world.idToken(tokens).subject == world.ann.description)
    }

    @Test(
        arguments: [
            [("prompt", "login")], [("prompt", "select_account")], [("max_age", "0")],
        ] as [Pairs])
    func `prompt=login makes a signed-in person log in again`(more: Pairs) async throws {
        let world = try await Site()
        try await world.signIn()
        let first = try await world.idToken(try await world.redeem(try await world.code()))
        world.world.clock.advance(seconds: 5)
        let answer = try await detour(world, more)
        let code = try #require(try world.sent(answer).with["code"])
        let second = try await world.idToken(try await world.redeem(code))
        let (before, after) = (
            try #require(first.authenticatedAt), try #require(second.authenticatedAt)
        )
        #expect(before < after)
    }

    @Test func `max_age demands a login where the sign-in is older`() async throws {
        let world = try await Site()
        try await world.signIn()
        world.world.clock.advance(seconds: 100)
        #expect(
            try world.sent(try await world.authorize(Site.request([("max_age", "1000")])))
                .with["code"] != nil)
        let answer = try await detour(world, [("max_age", "50")])
        #expect(try world.sent(answer).with["code"] != nil)
    }

    @Test func `a stronger sign-in is asked for, and waived unless it is essential`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let strong = "urn:modgud:acr:multi"
        let met = try await detour(world, [("acr_values", strong)], by: [.passkey])
        #expect(try world.sent(met).with["code"] != nil)
        // Stronger is good enough for weaker.
        #expect(
            try world.sent(
                try await world.authorize(
                    Site.request([("acr_values", "urn:modgud:acr:single")]))
            ).with["code"] != nil)
        try await world.signIn()
        let unmet = try await detour(world, [("acr_values", strong)])
        #expect(try world.sent(unmet).with["code"] != nil)
        let essential =
            #"{"id_token":{"acr":{"essential":true,"values":["urn:modgud:acr:multi"]}}}"#
        let refused = try await detour(world, [("claims", essential)])
        #expect(try world.sent(refused).with["error"] == "unmet_authentication_requirements")
    }

    @Test func `prompt=none is answered with a code or an error and no page`() async throws {
        let world = try await Site()
        let mute = Site.request([("prompt", "none")])
        let nobody = try world.sent(try await world.authorize(mute))
        #expect(nobody.to == Site.back && nobody.with["error"] == "login_required")
        try await world.signIn()
        let first = try await world.redeem(try await world.code(mute))
        let token = try await world.idToken(first)
        let hint = try #require(first.json["id_token"]?.string)
        let second = try await world.redeem(
            try await world.code(
                Site.request([("prompt", "none"), ("id_token_hint", hint)])))
        #expect(try await world.idToken(second).authenticatedAt == token.authenticatedAt)
        world.world.clock.advance(seconds: 10)
        let old = try await world.authorize(Site.request([("prompt", "none"), ("max_age", "5")]))
        #expect(try world.sent(old).with["error"] == "login_required")
    }

    @Test func `a login leads back to no redirect URI that the client no longer has`() async throws
    {
        let world = try await Site()
        let asked = try world.sent(try await world.authorize())
        let sealed = try #require(asked.with["continue"])
        try await world.signIn()
        let queries = MemoryQueries(log: world.world.log)
        let client = try #require(
            try await queries.ask(KnownClient.byClientID, "web", in: world.world.realm))
        var members = client.metadata.members
        members["redirect_uris"] = ["https://web.example/other"]
        try await world.world.carryOut(UpdateClient(id: client.id, metadata: members))
        let answer = try await world.authorize([("continue", sealed)])
        #expect(answer.status == .badRequest && answer.response.headers["Location"] == nil)
    }

    @Test func `an id_token_hint of another person asks for a login`() async throws {
        let world = try await Site()
        try await world.signIn()
        let tokens = try await world.redeem(try await world.code())
        let hint = try #require(tokens.json["id_token"]?.string)
        try await world.world.signIn("ann", as: .random())
        let mute = try await world.authorize(
            Site.request([("prompt", "none"), ("id_token_hint", hint)]))
        #expect(try world.sent(mute).with["error"] == "login_required")
        let answer = try await detour(world, [("id_token_hint", hint)])
        #expect(try world.sent(answer).with["code"] != nil)
        // Another client's token is no hint.
        try await world.register("second", [:])
        let foreign = try await world.authorize(
            Site.request([("client_id", "second"), ("id_token_hint", hint)]))
        #expect(try world.sent(foreign).with["error"] == "invalid_request")
    }

    @Test func `an id_token_hint and a sub claim that name different people are refused`()
        async throws
    {
        let world = try await Site()
        try await world.signIn()
        let tokens = try await world.redeem(try await world.code())
        let hint = try #require(tokens.json["id_token"]?.string)
        func demand(_ subject: UUID) -> Pairs {
            [
                ("id_token_hint", hint),
                ("claims", #"{"id_token":{"sub":{"value":"\#(subject)"}}}"#),
            ]
        }
        let other = UUID.random()
        for account in [world.ann, other] {
            try await world.world.signIn("ann", as: account)
            for more: Pairs in [[], [("prompt", "none")], [("prompt", "login")]] {
                let answer = try await world.authorize(Site.request(demand(other) + more))
                #expect(try world.sent(answer).with["error"] == "login_required")
            }
        }
        let pushed = try await world.world.post(
            "/connect/par",
            form: Site.request(demand(other)) + [("client_secret", SignInWorld.secret)])
        #expect(pushed.status == .badRequest && pushed.json["error"] == "login_required")
        try await world.signIn()
        let same = try await world.authorize(Site.request(demand(world.ann)))
        #expect(try world.sent(same).with["code"] != nil)
    }

    @Test func `a sub claim with several values is met by any of these people`() async throws {
        let world = try await Site()
        try await world.signIn()
        let other = UUID.random()
        func ask(_ sub: String, _ more: Pairs = [("prompt", "none")]) async throws -> [String:
            String]
        {
            let claims: Pairs = [("claims", #"{"id_token":{"sub":\#(sub)}}"#)]
            return try world.sent(try await world.authorize(Site.request(claims + more))).with
        }
        #expect(try await ask(#"{"values":["\#(other)"]}"#)["error"] == "login_required")
        #expect(try await ask(#"{"values":["\#(other)","xx"]}"#)["error"] == "login_required")
        #expect(try await ask(#"{"values":["\#(other)","\#(world.ann)"]}"#)["code"] != nil)
        #expect(try await ask(#"{"essential":true}"#)["code"] != nil)
        for unclear in [
            #"{"values":[]}"#, #"{"values":[1]}"#, #"{"values":"x"}"#, #"{"value":1}"#,
            #"{"value":"\#(world.ann)","values":["\#(world.ann)"]}"#,
        ] {
            #expect(try await ask(unclear)["error"] == "invalid_request", "\(unclear)")
        }
        // It is remembered on the way to the login and back.
        let sealed = try #require(
            try await ask(#"{"values":["\#(other)","xx"]}"#, [])["continue"])
        world.world.clock.advance(seconds: 5)
        try await world.signIn()
        let back = try world.sent(try await world.authorize([("continue", sealed)]))
        #expect(back.with["error"] == "login_required")
    }

    @Test func `a login page expires and belongs to one browser`() async throws {
        let world = try await Site()
        let answer = try await world.authorize()
        let sealed = try #require(try world.sent(answer).with["continue"])
        let forged = try await world.authorize([("continue", sealed + "A")])
        #expect(forged.status == .badRequest && forged.response.headers["Location"] == nil)
        world.world.clock.advance(seconds: 3601)
        #expect(try await world.authorize([("continue", sealed)]).status == .badRequest)
    }

    @Test func `a request that no address could carry is refused before a login`() async throws {
        let world = try await Site()
        let resources: Pairs = (0..<4).map {
            ("resource", "https://api.example/\($0)" + String(repeating: "x", count: 1500))
        }
        let answer = try await world.authorize(Site.request(resources))
        #expect(try world.sent(answer).with["error"] == "invalid_request")
    }

    @Test func `a login for a client that was disabled meanwhile redirects nobody`() async throws {
        let world = try await Site()
        let answer = try await world.authorize()
        let sealed = try #require(try world.sent(answer).with["continue"])
        try await world.signIn()
        let client = try #require(
            try await MemoryQueries(log: world.world.log).ask(
                KnownClient.byClientID, "web", in: world.world.realm))
        try await world.world.carryOut(ClientChange.disable(client.id))
        let back = try await world.authorize([("continue", sealed)])
        #expect(back.status == .badRequest && back.response.headers["Location"] == nil)
        let anew = try await world.authorize()
        #expect(anew.status == .badRequest && anew.response.headers["Location"] == nil)
    }

    @Test func `consent to a client's scopes is asked for once`() async throws {
        let world = try await Site(web: ["consent": "needed"])
        try await world.signIn()
        let mute = try await world.authorize(Site.request([("prompt", "none")]))
        #expect(try world.sent(mute).with["error"] == "consent_required")
        let sealed = try await consentPage(world, Site.request([("scope", "openid email")]))
        let again = try await world.authorize([("continue", sealed)])
        #expect(try world.sent(again).to == "/consent")
        #expect(try await world.decide(sealed, allows: false).with["error"] == "access_denied")
        let returnTarget = try await world.decide(sealed, allows: true)
        #expect(returnTarget.to == "/connect/authorize" && returnTarget.with["continue"] != sealed)
        let answer = try await world.authorize([("continue", sealed)])
        let code = try #require(try world.sent(answer).with["code"])
        #expect(try await world.redeem(code).status == .ok)
        // Remembered; more has to be asked for, and so it is when the client wants it.
        _ = try await world.code(Site.request([("scope", "openid")]))
        _ = try await consentPage(world, Site.request([("scope", "openid profile")]))
        world.world.clock.advance(seconds: 2)
        let anew = try await consentPage(
            world, Site.request([("scope", "openid"), ("prompt", "consent")]))
        let agreed = try #require(try await world.decide(anew, allows: true).with["continue"])
        let last = try await world.authorize([("continue", agreed)])
        #expect(try world.sent(last).with["code"] != nil)
    }

    @Test(arguments: [("fr-CA de-CH en", "de"), ("en de", "en"), ("fr", "en"), ("DE", "de")])
    func `the login pages speak the language of ui_locales`(
        tags: String, language: String
    ) async throws {
        let world = try await Site()
        let asked = try world.sent(
            try await world.authorize(Site.request([("ui_locales", tags)]), browser: "nobody"))
        #expect(asked.to == "/login")
        let page = await world.world.router.respond(
            to: Request(
                method: .get, path: "/login",
                query: Form.encode([("continue", asked.with["continue"] ?? "")]),
                headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.9",
                id: "request-9"))
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(text.contains("<html lang=\"\(language)\">"))
    }

    @Test func `prompt=consent asks for consent to each request, after the login it demanded`()
        async throws
    {
        let world = try await Site(web: ["consent": "needed"])
        try await world.signIn()
        // All of it within a second: it is no clock that tells them apart.
        let first = try await consentPage(world, Site.request([("prompt", "consent")]))
        let agreed = try #require(try await world.decide(first, allows: true).with["continue"])
        #expect(
            try world.sent(try await world.authorize([("continue", agreed)])).with["code"] != nil)
        let asked = try world.sent(
            try await world.authorize(Site.request([("prompt", "login consent")])))
        #expect(asked.to == "/login")
        try await world.signIn()
        let sealed = try #require(asked.with["continue"])
        let second = try await consentPage(world, [("continue", sealed)])
        let done = try #require(try await world.decide(second, allows: true).with["continue"])
        #expect(try world.sent(try await world.authorize([("continue", done)])).with["code"] != nil)
    }

    @Test func `an authorization code is refused once the person revoked the consent`() async throws
    {
        let world = try await Site(web: ["consent": "needed"])
        try await world.signIn()
        let sealed = try await consentPage(world, Site.request())
        _ = try await world.decide(sealed, allows: true)
        let answer = try await world.authorize([("continue", sealed)])
        let code = try #require(try world.sent(answer).with["code"])
        let client = try #require(
            try await MemoryQueries(log: world.world.log).ask(
                KnownClient.byClientID, "web", in: world.world.realm))
        let consent = world.world.mint.consent(of: world.ann, to: client.id)
        try await world.world.carryOut(ConsentChange.withdraw(consent, account: world.ann))
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
    }

    private func consentPage(_ world: Site, _ request: Pairs) async throws -> String {
        let answer = try await world.authorize(request)
        let (place, members) = try world.sent(answer)
        #expect(place == "/consent")
        return try #require(members["continue"])
    }
}
