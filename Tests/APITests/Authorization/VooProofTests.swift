import Cryptography
import HTTP
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// At the resource server, with tokens that are bound to a key.
extension `An app of the voo profile` {
    private static let asked: Headers = [
        "X-Original-Method": "POST", "X-Original-URI": "/customer?page=2",
    ]

    /// As the proxy asks that says where the resource server is called.
    private func guarded(
        _ world: AuthorizeWorld, _ authorization: String, proofs: [String],
        origin: String? = "https://api.voo.example", asked: Headers = asked
    ) async throws -> Answered {
        var headers = asked
        headers["Host"] = "id.acme.example"
        headers["Authorization"] = authorization
        for proof in proofs { headers.append("DPoP", proof) }
        var query: Pairs = [("client_id", "ates")]
        if let origin { query.append(("origin", origin)) }
        return try await world.world.send(
            Request(
                method: .get, path: "/connect/guard", query: Form.encode(query),
                headers: headers, body: [], source: "203.0.113.9", id: "request-7"))
    }

    private func proof(
        _ world: AuthorizeWorld, _ key: ProofKey, for token: String?, method: String = "POST",
        _ address: String = "https://api.voo.example/customer"
    ) throws -> String {
        var claims: JSONObject = [
            "jti": .string("\(UUID.random())"), "htm": .string(method), "htu": .string(address),
            "iat": .integer(world.world.clock.next().seconds),
        ]
        claims["ath"] = token.map { .string(Base64URL.encode(SHA256.hash(Array($0.utf8)))) }
        return try key.proof(claims)
    }

    private func boundToken(_ world: AuthorizeWorld, _ key: ProofKey) async throws -> String {
        let form: Pairs = [
            ("client_id", "ates"), ("grant_type", "authorization_code"),
            ("code", try await code(world)), ("code_verifier", Site.verifier),
        ]
        let answer = try await world.world.send(
            Request(
                method: .post, path: "/connect/token", query: nil,
                headers: [
                    "Host": "id.acme.example",
                    "Content-Type": "application/x-www-form-urlencoded",
                    "DPoP": try proof(world, key, for: nil, "\(Site.issuer)/connect/token"),
                ], body: Array(Form.encode(form).utf8), source: "203.0.113.9", id: "request-8"))
        #expect(answer.json["token_type"] == "DPoP")
        return try #require(answer.json["access_token"]?.string)
    }

    @Test func `RFC 9449: a voo app proves the key of its token for the request`()
        async throws
    {
        let world = try await world()
        let key = try ProofKey()
        let token = try await boundToken(world, key)
        let used = try proof(world, key, for: token)
        #expect(try await guarded(world, "DPoP \(token)", proofs: [used]).status == .ok)
        let wrong = [
            [used], [], [try proof(world, key, for: token), try proof(world, key, for: token)],
            [try proof(world, ProofKey(), for: token)], [try proof(world, key, for: "other")],
            [try proof(world, key, for: token, method: "GET")],
            [try proof(world, key, for: token, "https://api.voo.example/")],
            [try proof(world, key, for: token, "https://bank.example/customer")],
            [try proof(world, key, for: token, "\(Site.issuer)/connect/guard")],
        ]
        for (index, proofs) in wrong.enumerated() {
            let answer = try await guarded(world, "DPoP \(token)", proofs: proofs)
            #expect(answer.status == .unauthorized, "\(index)")
            #expect(try world.sent(answer).to == Site.issuer + "/authorize")
            #expect(answer.response.headers["WWW-Authenticate"]?.hasPrefix("DPoP ") == true)
        }
        let fresh = try proof(world, key, for: token)
        let bearer = try await guarded(world, "Bearer \(token)", proofs: [fresh])
        #expect(bearer.status == .unauthorized && bearer.json["error"] == "invalid_token")
        #expect(try await data(world, token).status == .unauthorized)
        // Without its name the resource server promises nothing of these headers.
        let silent = try await guarded(world, "DPoP \(token)", proofs: [fresh], origin: nil)
        #expect(silent.status == .unauthorized)
        for asked in [[:], ["X-Original-Method": "POST"], ["X-Original-URI": "/customer"]]
            as [Headers]
        {
            let mute = try await guarded(world, "DPoP \(token)", proofs: [fresh], asked: asked)
            #expect(mute.status == .badRequest)
        }
        #expect(try await guarded(world, "DPoP \(token)", proofs: [fresh]).status == .ok)
    }

    @Test func `RFC 9449: a voo app's proof may spell its URL in any equivalent way, and no other`()
        async throws
    {
        let world = try await world()
        let key = try ProofKey()
        let token = try await boundToken(world, key)
        let same = [
            ("/", "https://api.voo.example"), ("/", "HTTPS://API.Voo.Example:443/#x"),
            ("/?a=b", "https://api.voo.example?c"),
            ("/caf%c3%a9", "https://api.voo.example/caf%C3%A9"),
            ("/~ann/%2f", "https://api.voo.example/%7Eann/%2F"),
        ]
        let other = [
            ("/", "https://api.voo.example:8443/"), ("/", "http://api.voo.example/"),
            ("/", "https://voo.example/"), ("/", "https://ann@api.voo.example/"),
            ("/a/b", "https://api.voo.example/a%2Fb"), ("/b", "https://api.voo.example/a/../b"),
            ("/b", "https://api.voo.example/B"), ("/b", "https://api.voo.example/b/"),
            ("/b", "https://api.voo.example//b"), ("/b", "https://api.voo.example/b%"),
        ]
        for (pairs, status) in [(same, Status.ok), (other, .unauthorized)] {
            for (asked, address) in pairs {
                let answer = try await guarded(
                    world, "DPoP \(token)", proofs: [try proof(world, key, for: token, address)],
                    asked: ["X-Original-Method": "POST", "X-Original-URI": asked])
                #expect(answer.status == status, "\(asked) \(address)")
            }
        }
    }

    @Test func `RFC 9449: a voo app's unbound token needs no proof`() async throws {
        let world = try await world()
        let token = try await tokens(world).access
        let key = try ProofKey()
        let proofs = [try proof(world, key, for: token)]
        #expect(try await guarded(world, "Bearer \(token)", proofs: []).status == .ok)
        #expect(
            try await guarded(world, "DPoP \(token)", proofs: proofs).status == .unauthorized)
    }
}
