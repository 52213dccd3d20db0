import Cryptography
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// Where the app's own server holds its tokens, and keeps a secret or a key for it.
extension `An app of the voo profile` {
    private func brokered(_ metadata: JSONObject, secret: String? = nil) async throws -> Site {
        let world = try await world()
        try await world.world.register(
            "broker",
            ([
                "profile": "voo", "redirect_uris": [.string(Site.back)], "consent": "none",
                "grant_types": ["authorization_code", "refresh_token"], "scope": "openid email",
            ] as JSONObject).merging(metadata) { _, own in own }, secret: secret)
        try await world.signIn()
        return world
    }

    private func brokersCode(_ world: AuthorizeWorld) async throws -> String {
        let asked: Pairs = [
            ("response_type", "code"), ("client_id", "broker"), ("redirect_uri", Site.back),
            ("state", "7f0c"), ("code_challenge", Site.challenge),
            ("code_challenge_method", "S256"),
        ]
        return try #require(
            try world.sent(try await world.visit("/authorize", asked)).with["code"])
    }

    private static func redeeming(_ code: String) -> Pairs {
        [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Site.back),
            ("code_verifier", Site.verifier),
        ]
    }

    private static func refreshing(_ answer: Answered) -> Pairs {
        [
            ("grant_type", "refresh_token"),
            ("refresh_token", answer.json["refresh_token"]?.string ?? ""),
        ]
    }

    private func send(
        _ world: AuthorizeWorld, _ path: String, _ form: Pairs, proof: String
    ) async throws -> Answered {
        try await world.world.send(
            Request(
                method: .post, path: path, query: nil,
                headers: [
                    "Host": "id.acme.example", "DPoP": proof,
                    "Content-Type": "application/x-www-form-urlencoded",
                ], body: Array(Form.encode(form).utf8), source: "203.0.113.9", id: "request-5"))
    }

    @Test(arguments: ["/token", "/Token"])
    func `RFC 6749: a voo app authenticates by its secret, in the header or in the form`(
        _ path: String
    )
        async throws
    {
        let world = try await brokered([:], secret: "hush")
        let form = Self.redeeming(try await brokersCode(world))
        for basic in ["broker:wrong", "ates:hush", "nobody:hush"] {
            let refused = try await world.world.post(path, form: form, basic: basic)
            #expect(refused.status == .unauthorized && refused.json["error"] == "invalid_client")
        }
        let wrong = try await world.world.post(
            path, form: form + [("client_id", "broker"), ("client_secret", "wrong")])
        #expect(wrong.status == .unauthorized && wrong.json["error"] == "invalid_client")
        let inForm = try await world.world.post(
            path,
            form: Self.redeeming(try await brokersCode(world)) + [
                ("client_id", "broker"), ("client_secret", "hush"),
            ])
        #expect(inForm.status == .ok, "\(inForm.json)")
        let other = try await world.world.post(
            path, form: form + [("client_id", "ates")], basic: "broker:hush")
        #expect(other.status == .badRequest && other.json["error"] == "invalid_request")
        let first = try await world.world.post(path, form: form, basic: "broker:hush")
        #expect(first.status == .ok)
        let next = try await world.world.post(
            path, form: Self.refreshing(first) + [("client_id", "")], basic: "broker:hush")
        #expect(next.status == .ok)
        let last = try await world.world.post(
            path, form: Self.refreshing(next) + [("client_id", "broker")], basic: "broker:hush")
        #expect(last.status == .ok)
        let silent = try await world.world.post(path, form: Self.refreshing(last))
        #expect(silent.json["error"] == "invalid_client", "Its token is no secret of its own.")
    }

    @Test(arguments: ["/token", "/Token"])
    func `RFC 7523: a voo app authenticates by its assertion alone, each used once`(
        _ path: String
    ) async throws {
        let key = try SigningKey.pooled(.es256)
        let world = try await brokered([
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": KeySet([key.verificationKey]).document,
        ])
        func shown() throws -> Pairs {
            let now = world.world.clock.next().seconds
            let claims: JSONObject = [
                "iss": "broker", "sub": "broker", "aud": .string(Site.issuer),
                "jti": .string("\(UUID.random())"), "iat": .integer(now),
                "exp": .integer(now + 60),
            ]
            return [
                (
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                ),
                (
                    "client_assertion",
                    try JWS.sign(JSON.object(claims).canonical(), by: key, type: "JWT")
                ),
            ]
        }
        let used = try shown()
        let first = try await world.world.post(
            path, form: Self.redeeming(try await brokersCode(world)) + used)
        #expect(first.status == .ok)
        let again = try await world.world.post(path, form: Self.refreshing(first) + used)
        #expect(again.json["error"] == "invalid_client")
        let next = try await world.world.post(path, form: Self.refreshing(first) + (try shown()))
        #expect(next.status == .ok)
    }

    @Test(arguments: ["/token", "/Token"])
    func `RFC 9449: a voo app's DPoP proof names the address that it called`(_ path: String)
        async throws
    {
        let world = try await brokered(["token_endpoint_auth_method": "none"])
        let key = try ProofKey()
        func proof(_ path: String) throws -> String {
            try key.proof([
                "jti": .string("\(UUID.random())"), "htm": "POST",
                "htu": .string(Site.issuer + path),
                "iat": .integer(world.world.clock.next().seconds),
            ])
        }
        let form =
            Self.redeeming(try await brokersCode(world))
            + [(name: "client_id", value: "broker")]
        for wrong in ["/connect/token", path == "/token" ? "/Token" : "/token"] {
            let refused = try await send(world, path, form, proof: try proof(wrong))
            #expect(refused.status == .badRequest)
            #expect(refused.json["error"] == "invalid_dpop_proof")
        }
        let first = try await send(world, path, form, proof: try proof(path))
        #expect(first.status == .ok && first.json["token_type"] == "DPoP")
        let wrong = try await send(
            world, path, Self.refreshing(first), proof: try proof("/connect/token"))
        #expect(wrong.json["error"] == "invalid_dpop_proof")
        let next = try await send(world, path, Self.refreshing(first), proof: try proof(path))
        #expect(next.status == .ok && next.json["token_type"] == "DPoP")
    }
}
