import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

/// Of the modules of the FAPI 2.0 security profile those that say something beyond OpenID Connect.
@Suite struct `FAPI2` {
    @Test func `FAPI2: the whole flow succeeds, pushed, signed and bound`() async throws {
        let world = try await FAPIWorld()
        let pushed = try await world.push()
        #expect(pushed.status == .created)
        let (place, members) = try world.site.sent(try await world.visit(pushed))
        #expect(place == AuthorizeWorld.back && members["iss"] == AuthorizeWorld.issuer)
        let answer = try await world.redeem(try #require(members["code"]))
        #expect(answer.status == .ok && answer.json["token_type"] == "DPoP", "\(answer.json)")
    }

    @Test(
        arguments: [
            ("state and nonce left out", [("state", "-"), ("nonce", "-")]),
            ("a nonce of 64", [("nonce", String(repeating: "n", count: 64))]),
            ("a nonce of 384", [("nonce", String(repeating: "n", count: 384))]),
            ("a state of 1000", [("state", String(repeating: "s", count: 1000))]),
        ] as [(String, Pairs)])
    func `FAPI2: the client's texts come back unchanged`(name: String, more: Pairs) async throws {
        let world = try await FAPIWorld()
        let (_, members) = try world.site.sent(try await world.visit(try await world.push(more)))
        let answer = try await world.redeem(try #require(members["code"]))
        let inside = try payload(of: try #require(answer.json["id_token"]?.string))
        for (name, value) in more {
            let echoed = name == "state" ? members["state"] : inside["nonce"]?.string
            #expect(echoed == (value == "-" ? nil : value), "\(name)")
        }
    }

    @Test(
        arguments: [
            ("response type", [("response_type", "code id_token")], "unsupported_response_type"),
            ("response type", [("response_type", "token")], "unsupported_response_type"),
            ("redirect URI", [("redirect_uri", "https://evil.example/")], "invalid_request"),
            ("PKCE plain", [("code_challenge_method", "plain")], "invalid_request"),
            (
                "request_uri inside", [("request_uri", "urn:ietf:params:oauth:request_uri:x")],
                "invalid_request"
            ),
            (
                "request unsigned", [("request", "eyJhbGciOiJub25lIn0.e30.")],
                "invalid_request_object"
            ),
            (
                "request of others",
                [("request", "eyJhbGciOiJub25lIn0.e30."), ("redirect_uri", "-"), ("scope", "-")],
                "invalid_request_object"
            ),
            ("state of 4000", [("state", String(repeating: "s", count: 4000))], "invalid_request"),
        ] as [(String, Pairs, String)])
    func `FAPI2: a faulty pushed request is refused`(name: String, more: Pairs, error: String)
        async throws
    {
        let answer = try await FAPIWorld().push(more)
        #expect(answer.status == .badRequest && answer.json["error"] == .string(error))
    }

    @Test func `FAPI2: a request that was not pushed is refused`() async throws {
        let world = try await FAPIWorld()
        let answer = try await world.site.authorize(
            AuthorizeWorld.request([("client_id", "bank")]))
        #expect(try world.site.sent(answer).with["error"] == "invalid_request")
    }

    @Test func `FAPI2: a pushed request is granted once, to its client, for a short time`()
        async throws
    {
        let world = try await FAPIWorld()
        let pushed = try await world.push()
        // Looking at it, with nobody signed in, uses nothing up.
        world.site.world.browsers.signOut("ann")
        #expect(try world.site.sent(try await world.visit(pushed)).to == "/login")
        try await world.site.signIn()
        let foreign = try await world.visit(pushed, client: "other")
        #expect(foreign.status == .badRequest && foreign.response.headers["Location"] == nil)
        #expect(try world.site.sent(try await world.visit(pushed)).with["code"] != nil)
        let again = try world.site.sent(try await world.visit(pushed)).with
        #expect(again["error"] == "invalid_request_uri" && again["code"] == nil)
        let late = try await world.push()
        world.site.world.clock.advance(seconds: 100)
        let over = try await world.visit(late)
        #expect(over.status == .badRequest && over.response.headers["Location"] == nil)
        for method in [HTTP.Method.get, .put] {
            let answer = try await world.site.world.call(method, "/connect/par", as: nil)
            #expect(answer.status == .methodNotAllowed)
        }
    }

    @Test(
        arguments: [
            ("missing", ["-": true]), ("signed by another", ["-": false]),
            ("expired five minutes ago", ["exp": -300]),
            ("for another", ["aud": "https://b.example"]),
            ("for the token endpoint", ["aud": .string(FAPIWorld.tokenURL)]),
            ("for the place to push to", ["aud": .string(FAPIWorld.pushURL)]),
            ("for us and another", ["aud": [.string(AuthorizeWorld.issuer), "https://b.example"]]),
            ("without sub", ["sub": .null]), ("without iss", ["iss": .null]),
            ("without exp", ["exp": .null]), ("without jti", ["jti": .null]),
            ("of somebody else", ["sub": "other"]), ("not before a minute", ["nbf": 90]),
            ("made in a minute", ["iat": 90]), ("for hours", ["exp": 7200]),
        ] as [(String, JSONObject)])
    func `FAPI2: a faulty client assertion is refused`(name: String, change: JSONObject)
        async throws
    {
        let world = try await FAPIWorld()
        let assertion: String
        switch change["-"]?.bool {
        case true: assertion = "-"
        case false: assertion = try world.assertion(by: try SigningKey.pooled(.es256, id: "k"))
        default:
            let now = world.now
            assertion = try world.assertion(
                "bank", change.mapValues { $0.integer.map { .integer(now + $0) } ?? $0 })
        }
        let pushed = try await world.push(assertion: assertion)
        // Where the two disagree who asks, the request is at fault.
        let error: JSON = change["sub"] == "other" ? "invalid_request" : "invalid_client"
        #expect(pushed.json["error"] == error && pushed.json["request_uri"] == nil)
        let code = try await world.code()
        let answer = try await world.redeem(code, assertion: assertion == "-" ? "-" : assertion)
        #expect(answer.json["error"] == error && answer.json["access_token"] == nil)
    }

    @Test func `FAPI2: a client assertion of a clock slightly ahead is accepted`() async throws {
        let world = try await FAPIWorld()
        let ahead = JSON.integer(world.now + 8)
        let answer = try await world.push(
            assertion: try world.assertion("bank", ["nbf": ahead, "iat": ahead]))
        #expect(answer.status == .created, "\(answer.json)")
    }

    @Test(
        arguments: [
            ("missing", [("code_verifier", "-")], "invalid_grant"),
            (
                "wrong", [("code_verifier", "another-verifier-of-forty-three-characters-at-least")],
                "invalid_grant"
            ),
            ("short", [("code_verifier", "short")], "invalid_grant"),
            (
                "other redirect URI", [("redirect_uri", "https://web.example/other")],
                "invalid_grant"
            ),
        ] as [(String, Pairs, String)])
    func `FAPI2: a code is not redeemed with a faulty request`(
        name: String, more: Pairs, error: String
    ) async throws {
        let world = try await FAPIWorld()
        let answer = try await world.redeem(try await world.code(), more)
        #expect(answer.status == .badRequest && answer.json["error"] == .string(error))
    }

    @Test func `FAPI2: a code is its client's, used once, and expires after a minute`() async throws
    {
        let world = try await FAPIWorld()
        let stolen = try await world.redeem(try await world.code(), client: "other")
        #expect(stolen.json["error"] == "invalid_grant")
        let mixed = try await world.redeem(
            try await world.code(), client: "other", assertion: try world.assertion("bank"))
        #expect(mixed.status.code >= 400 && mixed.json["access_token"] == nil)
        let code = try await world.code()
        #expect(try await world.redeem(code).status == .ok)
        world.site.world.clock.advance(seconds: 1)
        #expect(try await world.redeem(code).json["error"] == "invalid_grant")
        let late = try await world.code()
        world.site.world.clock.advance(seconds: 61)
        #expect(try await world.redeem(late).json["error"] == "invalid_grant")
    }

    @Test func `FAPI2: a code is bound to the key of the pushed request`() async throws {
        let world = try await FAPIWorld()
        let thief = try ProofKey()
        for request in [
            ([("dpop_jkt", world.proofs.thumbprint)], nil),
            ([], try world.proof(FAPIWorld.pushURL)),
        ] as [(Pairs, String?)] {
            let stolen = try await world.redeem(
                try await world.code(request.0, proof: request.1),
                proof: try world.proof(by: thief))
            #expect(stolen.json["error"] == "invalid_grant")
        }
        let good = try await world.code([("dpop_jkt", world.proofs.thumbprint)])
        #expect(try await world.redeem(good).status == .ok)
        let mixed = try await world.push(
            [("dpop_jkt", thief.thumbprint)], proof: try world.proof(FAPIWorld.pushURL))
        #expect(mixed.json["error"] == "invalid_dpop_proof")
    }

    @Test func `FAPI2: a token is bound to a key and never issued unbound`() async throws {
        let world = try await FAPIWorld()
        let none = try await world.post(
            "/connect/token",
            [
                ("grant_type", "authorization_code"), ("code", try await world.code()),
                ("redirect_uri", AuthorizeWorld.back),
                ("code_verifier", AuthorizeWorld.verifier),
            ], proof: nil)
        #expect(none.json["error"] == "invalid_dpop_proof" && none.status == .badRequest)
        let answer = try await world.redeem(try await world.code())
        let token = try #require(answer.json["access_token"]?.string)
        #expect(try await world.site.world.userInfo(token).status == .unauthorized)
    }

    @Test
    func `FAPI2: a refresh token is its client's, and the previous one recovers a lost answer`()
        async throws
    {
        let world = try await FAPIWorld()
        let first = try await world.redeem(try await world.code())
        let token = try #require(first.json["refresh_token"]?.string)
        func refresh(
            _ client: String = "bank", assertion: String? = nil, proof: String?
        ) async throws -> Answered {
            try await world.post(
                "/connect/token", [("grant_type", "refresh_token"), ("refresh_token", token)],
                client: client, assertion: assertion, proof: proof)
        }
        let foreign = try await refresh("other", proof: try world.proof())
        #expect(foreign.json["error"] == "invalid_grant")
        let unsigned = try await refresh(assertion: "-", proof: try world.proof())
        #expect(unsigned.json["error"] == "invalid_client")
        #expect(try await refresh(proof: nil).json["error"] == "invalid_dpop_proof")
        let second = try await refresh(proof: try world.proof())
        #expect(second.status == .ok, "\(second.json)")
        let again = try await refresh(proof: try world.proof())
        #expect(again.status == .ok)
        #expect(again.json["refresh_token"] == second.json["refresh_token"])
    }

    @Test func `FAPI2: a refused consent is reported to the client`() async throws {
        let world = try await FAPIWorld(["consent": "needed", "client_name": "Web"])
        let (page, members) = try world.site.sent(try await world.visit(try await world.push()))
        #expect(page == "/consent")
        let end = try await world.site.decide(try #require(members["continue"]), allows: false)
        #expect(end.to == AuthorizeWorld.back && end.with["error"] == "access_denied")
        #expect(end.with["iss"] == AuthorizeWorld.issuer && end.with["code"] == nil)
    }
}
