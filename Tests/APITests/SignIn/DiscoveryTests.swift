import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

@Suite struct `Discovery` {
    private let paths = [
        "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
    ]

    @Test func `MOD-14: discovery lists native grants only while they are on`() async throws {
        let (open, closed) = (
            try await SignInWorld(), try await SignInWorld(["native_grants": false])
        )
        for path in paths {
            let on = try await open.get(path).json["grant_types_supported"]?.array
            let off = try await closed.get(path).json["grant_types_supported"]?.array
            #expect(on?.contains("urn:cocoar:otp") == true)
            #expect(off?.contains("urn:cocoar:otp") == false)
            #expect(off?.contains("refresh_token") == true)
        }
    }

    @Test(arguments: [
        "urn:ietf:params:oauth:grant-type:saml2-bearer",
        "urn:ietf:param:oauth:grant-type:saml2-bearer",
        "urn:ietf:param:oauth:grant-type:jwt-bearer",
    ])
    func `a realm takes no grant that its metadata does not list`(type: String) async throws {
        let world = try await SignInWorld()
        let listed = try await world.get(paths[0]).json["grant_types_supported"]?.array
        #expect(listed?.contains(.string(type)) == false)
        let answer = try await world.post(
            "/connect/token", form: [("grant_type", type), ("assertion", "x")],
            basic: SignInWorld.serviceBasic)
        #expect(answer.json["error"] == "unsupported_grant_type")
    }

    @Test func `MOD-14: discovery lists exactly what is served`() async throws {
        let world = try await SignInWorld()
        let said = try await world.get(paths[0]).json
        #expect(try await world.get(paths[1]).json == said)
        #expect(said["issuer"] == "http://id.acme.example")
        #expect(said["response_types_supported"] == ["code"])
        #expect(said["code_challenge_methods_supported"] == ["S256"])
        #expect(said["authorization_response_iss_parameter_supported"] == true)
        #expect(said["request_uri_parameter_supported"] == false)
        let prefix = "http://id.acme.example"
        let tree = RouteTree(API.realmTable)
        for (name, value) in try #require(said.object) {
            guard name.hasSuffix("_endpoint") || name == "jwks_uri" else { continue }
            let url = try #require(value.string)
            #expect(url.hasPrefix(prefix) && tree.find(String(url.dropFirst(prefix.count))) != nil)
        }
        let grants = try #require(said["grant_types_supported"]?.array)
        #expect(
            grants
                == API.described.grants.all.filter { !$0.isOfFederation }.map {
                    .string($0.type.rawValue)
                }
        )
    }

    @Test func `discovery names the issuer of the tokens at every host`() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp", "links_base_url": "https://login.acme.example/",
        ])
        let said = try await world.get(paths[0]).json
        #expect(said["issuer"] == "https://login.acme.example")
        #expect(said["jwks_uri"] == "https://login.acme.example/.well-known/jwks")
        try await world.registerPhone("app", [:])
        let tokens = try await world.signIn("app", scope: "openid").json
        let token = try #require(tokens["id_token"]?.string)
        #expect(try payload(of: token)["iss"] == said["issuer"])
        let elsewhere = try await world.get(paths[0], host: "nobody.example")
        #expect(elsewhere.status == .notFound)
    }

    @Test func `the key set has public keys, and private ones stay sealed`() async throws {
        let world = try await SignInWorld()
        let answer = try await world.get("/.well-known/jwks")
        let keys = try #require(answer.json["keys"]?.array)
        #expect(Set(keys.map { $0["alg"] }) == ["ES256", "RS256"])
        #expect(Set(keys.map { $0["kid"] }).count == 2)
        for key in keys {
            #expect(key["use"] == "sig")
            for secret in ["d", "p", "q", "dp", "dq", "qi"] { #expect(key[secret] == nil) }
        }
        #expect(try await world.get("/.well-known/jwks.json").json == answer.json)
        #expect(answer.response.headers["Access-Control-Allow-Origin"] == "*")
        for event in try await world.log.events(from: 1, limit: .max, in: world.realm)
        where event.name == "signing_key.published" {
            #expect(event.open["secret"] == nil && event.subject == SigningKeys.stream)
        }
    }

    @Test func `discovery and the routes of public clients are open to scripts of other origins`()
        async throws
    {
        let world = try await SignInWorld()
        var open: Set<String> = []
        for route in API.realmTable + API.pageTable
        where route.path.parameters.isEmpty && !route.traits.contains(.forTenantScripts) {
            let path = route.path.description
            var request = Request(method: .options, path: path)
            request.headers = [
                "Host": "id.acme.example", "Origin": "https://app.example",
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization,dpop",
            ]
            let asked = await world.router.respond(to: request)
            request.method = route.method
            let answered = await world.router.respond(to: request)
            // Never with what a browser keeps: a cookie must not speak for anybody there.
            for headers in [asked.headers, answered.headers] {
                #expect(headers["Access-Control-Allow-Credentials"] == nil)
                #expect([nil, "*"].contains(headers["Access-Control-Allow-Origin"]), "\(path)")
                let isOpen = headers["Access-Control-Allow-Origin"] != nil
                #expect(isOpen == (asked.headers["Access-Control-Allow-Origin"] != nil), "\(path)")
            }
            guard asked.headers["Access-Control-Allow-Origin"] == "*" else { continue }
            open.insert(path)
            let methods = asked.headers["Access-Control-Allow-Methods"] ?? ""
            #expect(methods.contains(route.method.rawValue))
            let names = asked.headers["Access-Control-Allow-Headers"] ?? ""
            #expect(names == "API_KEY_ID, Authorization, Content-Type, DPoP, Idempotency-Key")
            let told = answered.headers["Access-Control-Expose-Headers"] ?? ""
            #expect(told.contains("DPoP-Nonce") && told.contains("WWW-Authenticate"))
        }
        #expect(
            open == [
                "/.well-known/jwks", "/.well-known/jwks.json",
                "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
                "/.well-known/urd-webhook-keys.json",
                "/api/v0/token/identity_keys", "/api/v0/token/jwks", "/verify",
                "/screening/form", "/completion/form",
                "/connect/par", "/connect/register", "/connect/revoke", "/connect/token",
                "/connect/userinfo",
            ])
    }

    @Test func `a realm's first keys are made once by many simultaneous requests`() async throws {
        let world = try await SignInWorld()
        let answers = try await withThrowingTaskGroup(of: JSON.self) { group in
            for _ in 0..<50 { group.addTask { try await world.get("/.well-known/jwks").json } }
            return try await group.reduce(into: Set<JSON>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(try await world.events().count { $0 == "signing_key.published" } == 2)
    }

    @Test func `the key set has a retired key as long as its tokens may be valid`() async throws {
        let world = try await SignInWorld()
        try await world.registerPhone(
            "es", ["access_token_format": "jwt", "access_token_signed_response_alg": "ES256"])
        let first = try await world.signIn("es")
        let now = world.clock.next()
        for at in [now, now] {
            try await world.carryOut(
                SigningKeyChange.rotate(next: try NewSigningKey(.pooled(.es256)), now: at))
        }
        #expect(try await world.keySet().keys.count == 4)
        let access = try #require(first.json["access_token"]?.string)
        #expect(try await world.userInfo(access).status == .ok)
        let second = try await world.signIn("es")
        let keys = try await world.keySet()
        let newer = try #require(second.json["access_token"]?.string)
        let signers = try [access, newer].map { token in
            try JWS.verify(token, by: keys, rules: JWS.Rules(types: .accessToken)).keyID
        }
        #expect(signers[0] != signers[1])
    }
}
