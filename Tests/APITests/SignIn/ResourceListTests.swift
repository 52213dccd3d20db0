import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let one = "https://one.example/api"
private let two = "https://two.example/api"
private typealias Site = AuthorizeWorld

private func list(_ resources: String...) -> JSON { .array(resources.map { .string($0) }) }

@Suite struct `RFC 8707: A client's resources` {
    @Test func `RFC 8707: a client's resource list bounds each route that takes resources`()
        async throws
    {
        let site = try await Site(
            ["native_grants": true],
            web: ["resources": list(one), "audiences": list("https://web.example")])
        try await site.signIn()
        let refused = try await site.end(Site.request([("resource", two)]))
        #expect(refused["error"] == "invalid_target" && refused["code"] == nil)
        let pushed = try await site.world.post(
            "/connect/par",
            form: Site.request([("resource", two)]) + [("client_secret", SignInWorld.secret)])
        #expect(pushed.status == .badRequest && pushed.json["error"] == "invalid_target")
        // One of two that are asked for is not enough.
        let mixed = try await site.end(Site.request([("resource", one), ("resource", two)]))
        #expect(mixed["error"] == "invalid_target")
        let code = try await site.code(Site.request([("resource", one)]))
        let wider = try await site.redeem(code, [("resource", two)])
        #expect(wider.json["error"] == "invalid_target")
        let tokens = try await site.redeem(
            try await site.code(Site.request([("resource", one)])), [("resource", one)])
        #expect(tokens.status == .ok)
        let token = try #require(tokens.json["access_token"]?.string)
        #expect(try await site.world.introspect(token)["aud"] == .array([.string(one)]))
        // Without a word of resources it is as it was.
        #expect(try await site.redeem(try await site.code()).status == .ok)
    }

    @Test
    func `RFC 8707: a client's resource list holds for apps, services, devices and challenges`()
        async throws
    {
        let world = try await SignInWorld()
        let only: JSONObject = ["resources": list(one)]
        try await world.registerPhone("app", only)
        #expect(try await world.signIn("app", resource: [two]).json["error"] == "invalid_target")
        world.clock.advance(seconds: 200)
        #expect(try await world.signIn("app", resource: [one]).status == .ok)
        try await world.register(
            "jobs",
            only.merging(["grant_types": ["client_credentials"], "scope": "jobs"]) { $1 },
            secret: "hush")
        for (resource, status) in [(one, Status.ok), (two, .badRequest)] {
            let answer = try await world.post(
                "/connect/token",
                form: [("grant_type", "client_credentials"), ("resource", resource)],
                basic: "jobs:hush")
            #expect(answer.status == status)
            #expect(status == .ok || answer.json["error"] == "invalid_target")
        }
        try await world.register(
            "television",
            only.merging([
                "token_endpoint_auth_method": "none",
                "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"],
            ]) { $1 })
        let device = try await world.post(
            "/connect/deviceauthorization",
            form: [("client_id", "television"), ("resource", two)])
        #expect(device.json["error"] == "invalid_target")
        try await world.registerPhone(
            "own",
            only.merging([
                "grant_types": ["authorization_code", "urn:cocoar:otp"], "consent": "none",
                "redirect_uris": ["org.example.own:/back"],
            ]) { $1 })
        let challenge = try await world.post(
            "/connect/challenge",
            form: [
                ("client_id", "own"), ("resource", two), ("code_challenge", Site.challenge),
                ("code_challenge_method", "S256"),
            ])
        #expect(challenge.json["error"] == "invalid_target")
    }

    @Test func `RFC 8707: a resource that is named twice, in any spelling, stands once in a token`()
        async throws
    {
        let world = try await SignInWorld(["registration": "jit_on_otp", "resources": list(one)])
        try await world.registerPhone("app", [:])
        let twice = [one, one, one.replacing("https", with: "HTTPS")]
        let answer = try await world.signIn("app", resource: twice)
        let access = try #require(answer.json["access_token"]?.string, "\(answer.json)")
        #expect(try await world.introspect(access)["aud"] == list(one))
        let own = try await world.post(
            "/connect/token",
            form: [("grant_type", "client_credentials")] + twice.map { ("resource", $0) },
            basic: SignInWorld.serviceBasic)
        let token = try #require(own.json["access_token"]?.string, "\(own.json)")
        #expect(try await world.introspect(token)["aud"] == list(one))
    }

    @Test func `RFC 8707: the realm's resource list holds for clients without their own`()
        async throws
    {
        let world = try await SignInWorld(
            ["registration": "jit_on_otp", "resources": list(one)])
        try await world.registerPhone("app", [:])
        try await world.registerPhone("other", ["resources": list(two)])
        #expect(try await world.signIn("app", resource: [two]).json["error"] == "invalid_target")
        world.clock.advance(seconds: 200)
        #expect(try await world.signIn("app", resource: [one]).status == .ok)
        world.clock.advance(seconds: 200)
        #expect(try await world.signIn("other", resource: [two]).status == .ok)
        world.clock.advance(seconds: 200)
        #expect(try await world.signIn("other", resource: [one]).json["error"] == "invalid_target")
    }

    @Test func `RFC 8707: a client's resource list is applied at each refresh, without widening`()
        async throws
    {
        let world = try await SignInWorld()
        try await world.registerPhone("app", [:])
        let tokens = try await world.signIn("app", resource: [one, two]).json
        try await world.carryOut(
            RealmChange.setSettings(["resources": list(two, "https://x.example")]))
        let asked = try await world.refresh(tokens, "app", [("resource", one)])
        #expect(asked.json["error"] == "invalid_target")
        let left = try await world.refresh(tokens, "app")
        let token = try #require(left.json["access_token"]?.string)
        #expect(try await world.introspect(token)["aud"] == .array([.string(two)]))
        try await world.carryOut(RealmChange.setSettings(["resources": list("https://x.example")]))
        let none = try await world.refresh(left.json, "app")
        #expect(none.json["error"] == "invalid_target" && none.json["access_token"] == nil)
        // It ended nothing: the client may be given it back.
        try await world.carryOut(RealmChange.setSettings(["resources": list(one)]))
        #expect(try await world.refresh(left.json, "app").status == .ok)
    }

    @Test func `RFC 8707: a client's scopes are applied at each refresh`() async throws {
        let world = try await SignInWorld()
        let id = UUID.random()
        func metadata(_ scope: String) -> JSONObject {
            [
                "token_endpoint_auth_method": "none", "application_type": "native",
                "grant_types": ["urn:cocoar:otp", "refresh_token"], "scope": .string(scope),
            ]
        }
        try await world.carryOut(
            RegisterClient(
                id: id, clientID: "app", metadata: metadata("openid email orders offline_access"),
                secret: nil))
        let tokens = try await world.signIn("app", scope: "openid email orders offline_access")
        try await world.carryOut(
            UpdateClient(id: id, metadata: metadata("openid email offline_access")))
        let asked = try await world.refresh(tokens.json, "app", [("scope", "email orders")])
        #expect(asked.status == .ok && asked.json["scope"] == "email")
        let left = try await world.refresh(asked.json, "app")
        #expect(left.json["scope"] == "openid email offline_access")
        let token = try #require(left.json["access_token"]?.string)
        #expect(try await world.introspect(token)["scope"] == "openid email offline_access")
        let none = try await world.refresh(left.json, "app", [("scope", "orders")])
        #expect(none.json["error"] == "invalid_scope" && none.json["access_token"] == nil)
        // It ended nothing: the client may be given it back.
        try await world.carryOut(
            UpdateClient(id: id, metadata: metadata("openid email orders offline_access")))
        let back = try await world.refresh(left.json, "app")
        #expect(back.json["scope"] == "openid email orders offline_access")
    }

    @Test func `RFC 8707: a client that lost offline_access cannot refresh`()
        async throws
    {
        let world = try await SignInWorld()
        let id = UUID.random()
        func metadata(_ scope: String) -> JSONObject {
            [
                "token_endpoint_auth_method": "none", "application_type": "native",
                "grant_types": ["urn:cocoar:otp", "refresh_token"], "scope": .string(scope),
            ]
        }
        try await world.carryOut(
            RegisterClient(
                id: id, clientID: "app", metadata: metadata("openid offline_access"), secret: nil))
        let tokens = try await world.signIn("app", scope: "openid offline_access")
        try await world.carryOut(UpdateClient(id: id, metadata: metadata("openid")))
        for more in [[], [("scope", "openid")]] as [Pairs] {
            let refused = try await world.refresh(tokens.json, "app", more)
            #expect(refused.status == .badRequest && refused.json["error"] == "invalid_grant")
        }
        // A client without a list may ask for it, and one that is given it back has it.
        try await world.carryOut(UpdateClient(id: id, metadata: metadata("")))
        let next = try await world.refresh(tokens.json, "app")
        #expect(next.status == .ok)
        let last = try await world.refresh(next.json, "app")
        #expect(last.status == .ok)
        // What was used before ends the family in spite of it.
        try await world.carryOut(UpdateClient(id: id, metadata: metadata("openid")))
        world.clock.advance(seconds: 60)
        #expect(try await world.refresh(tokens.json, "app").json["error"] == "invalid_grant")
        try await world.carryOut(UpdateClient(id: id, metadata: metadata("openid offline_access")))
        #expect(try await world.refresh(last.json, "app").json["error"] == "invalid_grant")
    }

    @Test
    func `RFC 8707: a self-registered client has no resources until an administrator sets them`()
        async throws
    {
        let world = try await SignInWorld(["client_registration": "open"])
        let made = try await world.registerItself(["token_endpoint_auth_method": "none"])
        #expect(made.json["resources_listed_only"] == true)
        let id = try #require(made.json["client_id"]?.string)
        let bearer = try #require(made.json["registration_access_token"]?.string)
        for name in ["resources", "resources_listed_only"] {
            let value: JSON = name == "resources" ? list(two) : false
            let own = try await world.registerItself([name: value])
            #expect(own.json["error"] == "invalid_client_metadata", "\(name)")
            let later = try await world.call(
                .put, "/connect/register/\(id)", bearer: bearer,
                [
                    "client_id": .string(id), "redirect_uris": ["https://mine.example/back"],
                    "token_endpoint_auth_method": "none", name: value,
                ])
            #expect(later.json["error"] == "invalid_client_metadata", "\(name)")
        }
        func ask(_ resource: String, in world: SignInWorld, as id: String) async throws -> JSON? {
            try await world.post(
                "/connect/par",
                form: [
                    ("client_id", id), ("response_type", "code"), ("resource", resource),
                    ("redirect_uri", "https://mine.example/back"),
                    ("code_challenge", Site.challenge), ("code_challenge_method", "S256"),
                ]
            ).json["error"]
        }
        #expect(try await ask(one, in: world, as: id) == "invalid_target")
        let other = try await SignInWorld(
            ["client_registration": "open", "resources": list(one)])
        let there = try await other.registerItself(["token_endpoint_auth_method": "none"])
        let name = try #require(there.json["client_id"]?.string)
        #expect(try await ask(one, in: other, as: name) == nil)
        #expect(try await ask(two, in: other, as: name) == "invalid_target")
        let third = try await SignInWorld([
            "client_registration": "open", "resources": list(one), "unchecked_resources": list(two),
        ])
        let mine = try await third.registerItself(["token_endpoint_auth_method": "none"])
        let own = try #require(mine.json["client_id"]?.string)
        #expect(try await ask(two, in: third, as: own) == nil)
        #expect(try await ask(one, in: third, as: own) == "invalid_target")
    }

    @Test func `RFC 8707: a client's resource list bounds exchanges, beside the exchange targets`()
        async throws
    {
        let world = try await SignInWorld()
        let (here, there) = ("https://gateway.example", "https://orders.example")
        let grant = "urn:ietf:params:oauth:grant-type:token-exchange"
        try await world.registerPhone("app", [:])
        try await world.register(
            "gateway",
            [
                "grant_types": [.string(grant)], "token_exchange": "delegation",
                "audiences": list(here), "exchange_targets": list(there), "resources": list(one),
            ], secret: "hush")
        let subject = try await world.signIn("app", scope: "openid", resource: [here, two]).json
        func exchange(_ resources: String...) async throws -> Answered {
            try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", grant),
                    ("subject_token", subject["access_token"]?.string ?? ""),
                    ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
                ] + resources.map { ("resource", $0) }, basic: "gateway:hush")
        }
        #expect(try await exchange(there).status == .ok)
        #expect(try await exchange(two).json["error"] == "invalid_target")
        #expect(try await exchange(one).json["error"] == "invalid_target", "It reaches no further.")
        #expect(try await exchange().json["error"] == "invalid_target")
    }

    @Test(arguments: ["x", "https://a.example/#b", "/api", "https://a.example/ b"])
    func `RFC 8707: a client's resource list has absolute URIs alone`(_ text: String) async throws {
        #expect(throws: FieldFault.self) { try ClientMetadata(["resources": [.string(text)]]) }
        let world = try await SignInWorld()
        await #expect(throws: RealmChange.SetSettingsRejection.self) {
            try await world.carryOut(RealmChange.setSettings(["resources": [.string(text)]]))
        }
    }
}
