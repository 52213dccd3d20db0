import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
private let accessType = "urn:ietf:params:oauth:token-type:access_token"
private let here = "https://gateway.example"
private let there = "https://orders.example"

private struct Gateway: Sendable {
    let world: SignInWorld
    let tokens: JSON

    init(_ rule: String = "delegation", format: String = "reference") async throws {
        world = try await SignInWorld()
        try await world.registerPhone(
            "app", ["scope": "openid email orders offline_access"])
        try await world.register(
            "gateway",
            [
                "grant_types": [.string(exchangeGrant)], "token_exchange": .string(rule),
                "audiences": [.string(here)], "exchange_targets": [.string(there)],
                "access_token_format": .string(format),
                "access_token_signed_response_alg": "ES256",
            ], secret: "hush")
        tokens =
            try await world.signIn(
                "app", scope: "openid email orders offline_access", resource: [here]
            ).json
    }

    var token: String { tokens["access_token"]?.string ?? "" }

    func exchange(
        _ more: [(name: String, value: String)] = [("resource", there)], token: String? = nil,
        type: String = accessType
    ) async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", exchangeGrant), ("subject_token", token ?? self.token),
                ("subject_token_type", type),
            ] + more, basic: "gateway:hush")
    }
}

extension Gateway {
    func send(
        _ form: [(name: String, value: String)], proof: String?, basic: String? = nil
    ) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        headers["DPoP"] = proof
        headers["Authorization"] = basic.map { "Basic \(Base64.encode(Array($0.utf8)))" }
        return try await world.send(
            Request(
                method: .post, path: "/connect/token", query: nil, headers: headers,
                body: Array(Form.encode(form).utf8), source: "203.0.113.7", id: "request-6"))
    }

    func proof(_ key: ProofKey) throws -> String {
        try key.proof([
            "jti": .string("\(UUID.random())"), "htm": "POST",
            "htu": "http://id.acme.example/connect/token",
            "iat": .integer(world.clock.next().seconds),
        ])
    }

    /// The app refreshes with a proof: what it gets is bound to that key.
    func boundToken(_ key: ProofKey) async throws -> String {
        let answer = try await send(
            [
                ("grant_type", "refresh_token"), ("client_id", "app"),
                ("refresh_token", tokens["refresh_token"]?.string ?? ""),
            ], proof: try proof(key))
        #expect(answer.json["token_type"] == "DPoP")
        return try #require(answer.json["access_token"]?.string)
    }
}

@Suite struct `A client that exchanges a token` {
    @Test(arguments: ["reference", "jwt"])
    func `a token exchange proves the key of a bound token and binds the new one to it`(
        _ format: String
    ) async throws {
        let gateway = try await Gateway(format: format)
        let key = try ProofKey()
        let token = try await gateway.boundToken(key)
        let form = [
            (name: "grant_type", value: exchangeGrant), ("subject_token", token),
            ("subject_token_type", accessType), ("resource", there),
        ]
        for proof in [nil, try gateway.proof(ProofKey())] {
            let refused = try await gateway.send(form, proof: proof, basic: "gateway:hush")
            #expect(refused.status == .badRequest && refused.json["error"] == "invalid_request")
        }
        let answer = try await gateway.send(
            form, proof: try gateway.proof(key), basic: "gateway:hush")
        #expect(answer.status == .ok && answer.json["token_type"] == "DPoP")
        let known = try await gateway.world.introspect(answer.json["access_token"]?.string ?? "")
        #expect(known["cnf"] == ["jkt": .string(key.thumbprint)])
    }

    @Test(arguments: ["reference", "jwt"])
    func `a token exchange returns a token with its actor and no wider reach`(_ format: String)
        async throws
    {
        let gateway = try await Gateway(format: format)
        let answer = try await gateway.exchange([("resource", there), ("scope", "orders")])
        #expect(answer.status == .ok && answer.json["scope"] == "orders")
        #expect(answer.json["issued_token_type"]?.string == accessType)
        #expect(answer.json["refresh_token"] == nil && answer.json["id_token"] == nil)
        let token = try #require(answer.json["access_token"]?.string)
        let known = try await gateway.world.introspect(token)
        let subject = try await gateway.world.introspect(gateway.token)
        #expect(known["sub"] == subject["sub"] && known["client_id"] == "gateway")
        #expect(known["act"] == ["sub": "gateway"] && known["aud"] == [.string(there)])
        #expect((known["exp"]?.integer ?? .max) <= (subject["exp"]?.integer ?? 0))
        if format == "jwt" {
            let parts = token.split(separator: ".").map(String.init)
            let claims = try JSON.parse(try #require(Base64URL.decode(parts[1])))
            #expect(claims["act"] == ["sub": "gateway"])
        }
        let wider = try await gateway.exchange([("resource", there), ("scope", "profile")])
        #expect(wider.json["error"] == "invalid_scope")
        let elsewhere = try await gateway.exchange([("audience", "https://bank.example")])
        #expect(elsewhere.json["error"] == "invalid_target")
        // Not the client's own to have, which RFC 6749 section 5.2 knows as the same.
        let foreign = try await gateway.exchange([("scope", "offline_access")])
        #expect(foreign.json["error"] == "invalid_scope")
    }

    @Test func `a resource that is named more than once stands in a token once`() async throws {
        let gateway = try await Gateway()
        let answer = try await gateway.exchange([
            ("resource", there), ("resource", there),
            ("audience", there.replacing("https://", with: "HTTPS://")),
        ])
        let token = try #require(answer.json["access_token"]?.string, "\(answer.json)")
        #expect(try await gateway.world.introspect(token)["aud"] == [.string(there)])
    }

    @Test(arguments: ["reference", "jwt"])
    func `a token exchange names no actor who only showed a token, and never the person`(
        _ format: String
    ) async throws {
        for rule in ["delegation", "impersonation"] {
            let gateway = try await Gateway(rule, format: format)
            let other = try await gateway.world.signIn("app", resource: [here]).json
            for actor in [gateway.token, other["access_token"]?.string ?? ""] {
                let answer = try await gateway.exchange([
                    ("resource", there), ("actor_token", actor), ("actor_token_type", accessType),
                ])
                #expect(answer.status == .badRequest && answer.json["error"] == "invalid_request")
                #expect(answer.json["error_description"]?.string?.contains("actor_token") == true)
            }
        }
    }

    @Test func `a token exchange for the person is recorded with its actor`() async throws {
        let gateway = try await Gateway("impersonation")
        let answer = try await gateway.exchange([("audience", there)])
        let token = try #require(answer.json["access_token"]?.string)
        #expect(try await gateway.world.introspect(token)["act"] == nil)
        let events = try await gateway.world.log.events(
            from: 1, limit: .max, in: gateway.world.realm)
        let opened = try #require(events.last { $0.name == "session.opened" })
        #expect(opened.open["impersonator"] == "gateway" && opened.actor == "client:gateway")
    }

    @Test func `an exchanged token ends with the person's session`() async throws {
        let gateway = try await Gateway()
        let token = try #require(
            try await gateway.exchange().json["access_token"]?.string)
        #expect(try await gateway.world.introspect(token)["active"] == true)
        _ = try await gateway.world.post(
            "/connect/revoke",
            form: [
                ("client_id", "app"), ("token", gateway.tokens["refresh_token"]?.string ?? ""),
            ])
        #expect(try await gateway.world.introspect(token) == ["active": false])
        let again = try await gateway.exchange()
        #expect(again.json["error"] == "invalid_request", "It is revoked.")
    }

    @Test func `an exchanged token opens no account route`() async throws {
        let gateway = try await Gateway("impersonation")
        let answer = try await gateway.exchange([("scope", "openid email")], token: gateway.token)
        let token = try #require(answer.json["access_token"]?.string)
        for (method, path) in [
            (HTTP.Method.get, "/api/account/sessions"), (.post, "/api/account/logout-everywhere"),
            (.delete, "/api/account"),
        ] {
            let refused = try await gateway.world.call(method, path, bearer: token)
            #expect(refused.status == .unauthorized)
        }
    }

    @Test(arguments: [("reference", false), ("jwt", true)])
    func `a token exchange returns a JWT to clients registered for JWTs, else a reference`(
        format: String, isGiven: Bool
    ) async throws {
        let gateway = try await Gateway(format: format)
        let answer = try await gateway.exchange([
            ("resource", there),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ])
        #expect(answer.status == (isGiven ? .ok : .badRequest))
        #expect(answer.json["error"] == (isGiven ? nil : "invalid_request"))
        let parts = answer.json["access_token"]?.string?.split(separator: ".").count
        #expect(parts == (isGiven ? 3 : nil))
    }

    @Test func `a token exchange of a foreign token is refused`() async throws {
        let gateway = try await Gateway()
        let other = try await gateway.world.signIn("app", resource: ["https://bank.example"])
        let foreign = try await gateway.exchange(
            token: other.json["access_token"]?.string)
        #expect(foreign.json["error"] == "invalid_request")
        for (token, type) in [
            (gateway.tokens["refresh_token"]?.string ?? "", accessType),
            (gateway.tokens["id_token"]?.string ?? "", accessType),
            (gateway.token, "urn:ietf:params:oauth:token-type:refresh_token"),
            (gateway.token + "A", accessType), ("x", accessType),
        ] {
            let answer = try await gateway.exchange(token: token, type: type)
            #expect(answer.json["error"] == "invalid_request")
        }
        let kind = try await gateway.exchange([
            ("requested_token_type", "urn:ietf:params:oauth:token-type:saml2")
        ])
        #expect(kind.json["error"] == "invalid_request")
        let wider = try await gateway.exchange([("resource", there), ("scope", "openid admin")])
        #expect(wider.json["error_description"]?.string?.contains("refresh") == false)
        let half = try await gateway.exchange([("actor_token", gateway.token)])
        #expect(half.json["error"] == "invalid_request")
        let service = try await gateway.world.post(
            "/connect/token",
            form: [
                ("grant_type", exchangeGrant), ("subject_token", gateway.token),
                ("subject_token_type", accessType),
            ], basic: SignInWorld.serviceBasic)
        #expect(service.json["error"] == "unauthorized_client")
    }
}
