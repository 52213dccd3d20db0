import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

@Suite struct `What a client demands` {
    private let cal = "https://cal.example.com/"
    private let contacts = "https://contacts.example.com/"

    /// The figures 3 to 6 of RFC 8707.
    @Test func `a first token for one resource leaves the other resources for later refreshes`()
        async throws
    {
        let site = try await Site(web: ["access_token_format": "jwt"])
        try await site.signIn()
        let code = try await site.code(Site.request([("resource", cal), ("resource", contacts)]))
        let first = try await site.redeem(code, [("resource", cal)])
        #expect(try audience(first) == [cal])
        let later = try await site.world.post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", "web"),
                ("client_secret", SignInWorld.secret), ("resource", contacts),
                ("refresh_token", try #require(first.json["refresh_token"]?.string)),
            ])
        #expect(try audience(later) == [contacts])
        let other = try await site.code(Site.request([("resource", cal)]))
        let wider = try await site.redeem(other, [("resource", contacts)])
        #expect(wider.json["error"] == "invalid_target")
    }

    private func audience(_ answer: Answered) throws -> [String] {
        let token = try #require(answer.json["access_token"]?.string, "\(answer.json)")
        let part = token.split(separator: ".")[1]
        let claims = try JSON.parse(try #require(Base64URL.decode(String(part))))
        return claims["aud"]?.array?.compactMap(\.string) ?? claims["aud"]?.string.map { [$0] }
            ?? []
    }

    /// OpenID Connect Core section 5.5.1.1.
    @Test func `an essential acr is answered with the requested level`() async throws {
        let site = try await Site()
        try await site.signIn(by: [.passkey])
        let single = "urn:modgud:acr:single"
        for (acr, heard) in [
            (#"{"essential":true,"values":["\#(single)"]}"#, single),
            (#"{"essential":true,"value":"\#(single)"}"#, single),
            (#"{"values":["\#(single)"]}"#, "urn:modgud:acr:multi"),
            (
                #"{"essential":true,"values":["\#(single)","urn:modgud:acr:multi"]}"#,
                "urn:modgud:acr:multi"
            ),
        ] {
            let claims = #"{"id_token":{"acr":\#(acr)}}"#
            let answer = try await site.redeem(
                try await site.code(Site.request([("claims", claims)])))
            #expect(try await site.idToken(answer).authenticationContext == heard, "\(acr)")
        }
    }

    @Test(arguments: [
        #"{"essential":true,"values":"x"}"#, #"{"essential":true,"values":[1]}"#,
        #"{"essential":"yes","value":"x"}"#, #"{"value":1}"#, #"{"values":[]}"#,
    ])
    func `an unreadable acr demand is refused`(acr: String) async throws {
        let site = try await Site()
        try await site.signIn()
        let answer = try await site.authorize(
            Site.request([("claims", #"{"id_token":{"acr":\#(acr)}}"#)]))
        #expect(try site.sent(answer).with["error"] == "invalid_request")
    }

    /// OpenID Connect Core section 11.
    @Test func `a client without the refresh grant does not get offline_access`() async throws {
        let site = try await Site(web: ["grant_types": ["authorization_code"]])
        try await site.signIn()
        let answer = try await site.redeem(
            try await site.code(Site.request([("scope", "openid offline_access")])))
        #expect(answer.json["scope"] == "openid" && answer.json["refresh_token"] == nil)
    }

    @Test func `max_age is exact to the microsecond, not to whole seconds`() async throws {
        let site = try await Site()
        try await site.signIn()
        let young = Site.request([("prompt", "none"), ("max_age", "2")])
        site.world.clock.advance(seconds: 1)
        #expect(try site.sent(try await site.authorize(young)).with["code"] != nil)
        site.world.clock.advance(seconds: 1)
        #expect(try site.sent(try await site.authorize(young)).with["error"] == "login_required")
    }

    /// RFC 9449 section 10.1, where RFC 9101 section 6.3 says which key was named.
    @Test func `a key named in a request object must be the key that is proved`() async throws {
        let world = try await FAPIWorld()
        let other = try ProofKey()
        func push(_ inner: String?, _ outer: String?) async throws -> Answered {
            var claims: JSONObject = [
                "iss": "bank", "aud": .string(Site.issuer), "exp": .integer(world.now + 60),
                "nbf": .integer(world.now),
            ]
            for (name, value) in Site.request([("client_id", "bank")]) {
                claims[name] = .string(value)
            }
            claims["dpop_jkt"] = inner.map { .string($0) }
            let object = try JWS.sign(
                JSON.object(claims).canonical(), by: world.key, type: "oauth-authz-req+jwt")
            return try await world.post(
                "/connect/par", [("request", object), ("dpop_jkt", outer ?? "-")],
                proof: try world.proof(FAPIWorld.pushURL))
        }
        #expect(try await push(other.thumbprint, nil).json["error"] == "invalid_dpop_proof")
        for good in [
            try await push(nil, nil), try await push(world.proofs.thumbprint, nil),
            // What stands beside the object does not count.
            try await push(nil, other.thumbprint),
        ] {
            let code = try #require(try world.site.sent(try await world.visit(good)).with["code"])
            let stolen = try await world.redeem(code, proof: try world.proof(by: other))
            #expect(stolen.json["error"] == "invalid_grant")
        }
    }
}
