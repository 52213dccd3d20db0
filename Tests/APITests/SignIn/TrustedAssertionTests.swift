import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
private let issuer = "https://partner.example"
private let us = "http://id.acme.example"

private struct Partner: Sendable {
    let world: SignInWorld
    let key: SigningKey
    let trusted: JSON
    let account: String

    init(subject: String? = nil) async throws {
        key = try SigningKey.pooled(.es256)
        var trusted: JSONObject = ["jwks": KeySet([key.verificationKey]).document]
        trusted["subject"] = subject.map { .string($0) }
        self.trusted = .object(trusted)
        world = try await SignInWorld([
            "registration": "jit_on_otp", "assertion_issuers": [issuer: .object(trusted)],
        ])
        try await world.registerPhone(
            "app",
            ["grant_types": ["urn:cocoar:otp", .string(bearerGrant), "refresh_token"]])
        let token = try await world.signIn("app", scope: "openid").json["access_token"]?.string
        account = try #require(try await world.userInfo(token ?? "").json["sub"]?.string)
    }

    func assertion(
        _ claims: JSONObject = [:], type: String = "JWT", by other: SigningKey? = nil
    ) throws -> String {
        let now = world.clock.next().seconds
        let all: JSONObject = [
            "iss": .string(issuer), "sub": .string(account), "aud": .string(us),
            "jti": .string("\(UUID.random())"), "iat": .integer(now), "exp": .integer(now + 120),
        ]
        let merged = all.merging(claims) { $1 }.filter { !$0.value.isNull }
        return try JWS.sign(JSON.object(merged).canonical(), by: other ?? key, type: type)
    }

    func redeem(_ assertion: String, scope: String = "openid email") async throws -> Answered {
        try await world.post(
            "/connect/token",
            form: [
                ("grant_type", bearerGrant), ("client_id", "app"), ("assertion", assertion),
                ("scope", scope),
            ])
    }
}

@Suite struct `A trusted issuer` {
    @Test func `a scope that a client may not have by an assertion is an invalid scope`()
        async throws
    {
        let partner = try await Partner()
        try await partner.world.registerPhone(
            "narrow", ["grant_types": ["urn:cocoar:otp", .string(bearerGrant)], "scope": "openid"])
        let answer = try await partner.world.post(
            "/connect/token",
            form: [
                ("grant_type", bearerGrant), ("client_id", "narrow"),
                ("assertion", try partner.assertion()), ("scope", "openid profile"),
            ])
        #expect(answer.status == .badRequest && answer.json["error"] == "invalid_scope")
    }

    @Test func `a trusted issuer's assertion gives tokens of its subject`() async throws {
        let partner = try await Partner()
        let answer = try await partner.redeem(try partner.assertion())
        #expect(answer.status == .ok)
        let token = try #require(answer.json["access_token"]?.string)
        let known = try await partner.world.introspect(token)
        #expect(known["sub"]?.string == partner.account && known["acr"] == nil)
        #expect(known["auth_time"] == nil, "Nobody signed in here.")
        #expect(try await partner.world.userInfo(token).json["email"] == "ann@example.org")
        // It is no sign-in of the person: nothing of the account is looked after by it.
        let sessions = try await partner.world.call(.get, "/api/account/sessions", bearer: token)
        #expect(sessions.status == .unauthorized)
    }

    @Test func `a trusted issuer's assertion used many times at once gives tokens once`()
        async throws
    {
        let partner = try await Partner()
        let assertion = try partner.assertion()
        let answers = try await withThrowingTaskGroup(of: Answered.self) { group in
            for _ in 0..<50 { group.addTask { try await partner.redeem(assertion) } }
            return try await group.reduce(into: [Answered]()) { $0.append($1) }
        }
        #expect(answers.count { $0.status == .ok } == 1)
        #expect(answers.allSatisfy { $0.status == .ok || $0.json["error"] == "invalid_grant" })
    }

    @Test func `a trusted issuer's assertion with any fault is refused`() async throws {
        let partner = try await Partner()
        let now = partner.world.clock.next().seconds
        let stranger = try SigningKey.pooled(.es256, id: partner.key.id)
        let wrong: [JSONObject] = [
            ["iss": "https://other.example"], ["iss": .null], ["sub": .null], ["aud": .null],
            ["aud": .string("\(us)/connect/token")], ["aud": "https://elsewhere.example"],
            ["aud": [.string(us), "https://elsewhere.example"]], ["exp": .null],
            ["exp": .integer(now - 60)], ["exp": .integer(now + 7200)], ["jti": .null],
            ["nbf": .integer(now + 600)], ["iat": .integer(now + 600)], ["sub": "ann"],
            ["sub": .string("\(UUID.random())")],
            ["jti": .string(String(repeating: "a", count: 257))],
        ]
        for claims in wrong {
            let answer = try await partner.redeem(try partner.assertion(claims))
            #expect(answer.status == .badRequest, "\(claims)")
            #expect(answer.json["error"] == "invalid_grant", "\(claims)")
        }
        for text in [
            try partner.assertion(by: stranger), try partner.assertion(type: "at+jwt"),
            try partner.assertion() + "A", "a.b.c", "x",
        ] { #expect(try await partner.redeem(text).json["error"] == "invalid_grant") }
        let world = try await SignInWorld()
        try await world.registerPhone("app", ["grant_types": [.string(bearerGrant)]])
        let closed = try await world.post(
            "/connect/token",
            form: [
                ("grant_type", bearerGrant), ("client_id", "app"),
                ("assertion", try partner.assertion()),
            ])
        #expect(closed.json["error"] == "invalid_grant", "Nobody is trusted there.")
    }

    @Test func `tokens of an issuer that is no longer trusted are not refreshed`() async throws {
        let partner = try await Partner()
        let world = partner.world
        let offline = "openid offline_access"
        var tokens = try await partner.redeem(try partner.assertion(), scope: offline).json
        let own = try await world.signIn("app", scope: offline).json
        func trust(_ issuers: JSONObject) async throws {
            try await world.carryOut(
                RealmChange.setSettings(["assertion_issuers": .object(issuers)]))
        }
        try await trust([issuer: partner.trusted, "https://other.example": partner.trusted])
        let good = try await world.refresh(tokens, "app")
        #expect(good.status == .ok)
        tokens = good.json
        try await trust(["https://other.example": partner.trusted])
        let refused = try await world.refresh(tokens, "app")
        #expect(refused.status == .badRequest && refused.json["error"] == "invalid_grant")
        #expect(try await world.refresh(own, "app").status == .ok, "She signed in herself.")
        try await trust([issuer: partner.trusted])
        #expect(try await world.refresh(tokens, "app").status == .ok)
    }

    @Test func `a trusted issuer's assertion may name a person by a confirmed address`()
        async throws
    {
        let partner = try await Partner(subject: "email")
        func redeem(_ claims: JSONObject) async throws -> Answered {
            try await partner.redeem(
                try partner.assertion(
                    (["sub": "their-own-name"] as JSONObject).merging(claims) { $1 }))
        }
        let good = try await redeem(["email": "Ann@Example.org", "email_verified": true])
        #expect(good.status == .ok)
        for claims in [
            [:], ["email": "ann@example.org"],
            ["email": "ann@example.org", "email_verified": false],
            ["email": "ann@example.org", "email_verified": "true"],
            ["email": "bob@example.org", "email_verified": true],
        ] as [JSONObject] {
            #expect(try await redeem(claims).json["error"] == "invalid_grant", "\(claims)")
        }
    }
}
