import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private let issuer = "http://id.acme.example"

@Suite struct `Signed tokens` {
    private func world() async throws -> SignInWorld {
        let world = try await SignInWorld()
        try await world.registerPhone("rs", ["access_token_format": "jwt"])
        try await world.registerPhone(
            "es",
            [
                "access_token_format": "jwt", "access_token_signed_response_alg": "ES256",
                "id_token_signed_response_alg": "ES256",
            ])
        return world
    }

    private func read(
        _ answer: Answered, _ world: SignInWorld, for reader: String = issuer
    ) async throws -> AccessToken {
        let keys = try await world.keySet()
        return try AccessToken.check(
            try #require(answer.json["access_token"]?.string), keys: keys,
            rules: ClaimRules(
                issuer: issuer, audience: .includes(reader)), at: world.clock.next())
    }

    @Test(arguments: [("rs", Algorithm.rs256), ("es", .es256)])
    func `MOD-11: a client registered for JWTs gets JWT access tokens`(
        client: String, algorithm: Algorithm
    ) async throws {
        let world = try await world()
        let answer = try await world.signIn(client)
        #expect(answer.status == .ok)
        #expect(answer.json["expires_in"] == 900)
        let token = try await read(answer, world)
        #expect(token.clientID == client && token.audience == [issuer])
        #expect(token.scope == ["openid", "email", "offline_access"])
        #expect(token.expiresAt.seconds - token.issuedAt.seconds == 900)
        #expect(token.authenticationContext == "urn:modgud:acr:single")
        #expect(token.authenticationMethods == ["otp"])
        #expect(token.authenticatedAt != nil && UUID(token.subject) != nil)
        let text = try #require(answer.json["access_token"]?.string)
        let verified = try JWS.verify(
            text, by: try await world.keySet(),
            rules: JWS.Rules(algorithms: [algorithm], types: .accessToken))
        #expect(verified.type == "at+jwt")
        // Every token has a name of its own.
        let next = try await read(try await world.refresh(answer.json, client), world)
        #expect(next.id != token.id && next.subject == token.subject)
        #expect(next.authenticatedAt == token.authenticatedAt)
    }

    @Test func `MOD-11: signed tokens are for the requested resources and narrow at a refresh`()
        async throws
    {
        let world = try await world()
        let (one, two) = ("https://api.example", "https://files.example")
        let answer = try await world.signIn("es", resource: [one, two])
        #expect(try await read(answer, world, for: one).audience == [one, two])
        let less = try await world.refresh(
            answer.json, "es", [("resource", two), ("scope", "email")])
        let narrow = try await read(less, world, for: two)
        #expect(narrow.audience == [two] && narrow.scope == ["email"])
        #expect(less.json["id_token"] == nil, "It did not ask for openid.")
        let more = try await world.refresh(
            less.json, "es", [("resource", "https://other.example")])
        #expect(more.json["error"] == "invalid_target")
    }

    @Test func `MOD-11: signed tokens live an hour at most for native sign-ins`()
        async throws
    {
        let world = try await SignInWorld()
        try await world.registerPhone("long", ["access_token_lifetime": 86_400])
        #expect(try await world.signIn("long").json["expires_in"] == 3600)
    }

    @Test func `MOD-11: signed tokens cannot be refreshed without offline_access`() async throws {
        let world = try await world()
        let answer = try await world.signIn("es", scope: "openid")
        #expect(answer.json["refresh_token"] == nil && answer.json["id_token"] != nil)
    }

    @Test(arguments: [("phone", Algorithm.rs256), ("es", .es256)])
    func `signed tokens come with an ID token where openid was asked for`(
        client: String, algorithm: Algorithm
    ) async throws {
        let world = try await world()
        let answer = try await world.signIn(client)
        let keys = try await world.keySet()
        func check(_ answer: JSON) throws -> IDToken {
            try IDToken.check(
                try #require(answer["id_token"]?.string), keys: keys, issuer: issuer,
                clientID: client, nonce: nil, accessToken: answer["access_token"]?.string,
                at: world.clock.next(), algorithms: [algorithm])
        }
        let token = try check(answer.json)
        #expect(token.authenticationContext == "urn:modgud:acr:single")
        #expect(token.additional["sid"]?.string.flatMap { UUID($0) } != nil)
        #expect(token.additional["email"] == nil, "That is for the user info endpoint.")
        let next = try check(try await world.refresh(answer.json, client).json)
        #expect(next.subject == token.subject)
        #expect(next.authenticatedAt == token.authenticatedAt)
        #expect(next.additional["sid"] == token.additional["sid"])
        #expect(next.accessTokenHash != token.accessTokenHash)
        #expect(try await world.signIn(client, scope: "email").json["id_token"] == nil)
    }

    @Test func `MOD-18: signed tokens are refused here once they are revoked`() async throws {
        let world = try await world()
        let answer = try await world.signIn("es")
        let access = try #require(answer.json["access_token"]?.string)
        #expect(try await world.userInfo(access).json["email"] == "ann@example.org")
        let known = try await world.introspect(access)
        #expect(known["active"] == true && known["aud"] == .array([.string(issuer)]))
        let token = try await read(answer, world)
        #expect(known["jti"]?.string == token.id && known["iat"]?.integer == token.issuedAt.seconds)
        #expect(known["acr"] == "urn:modgud:acr:single" && known["amr"] == ["otp"])
        let revoked = try await world.post(
            "/connect/revoke", form: [("token", access), ("client_id", "es")])
        #expect(revoked.status == .ok)
        #expect(try await world.introspect(access) == ["active": false])
        #expect(try await world.userInfo(access).status == .unauthorized)
    }

    @Test func `an ID token is refused as an access token, and the reverse`() async throws {
        let world = try await world()
        let answer = try await world.signIn("es")
        let idToken = try #require(answer.json["id_token"]?.string)
        #expect(try await world.userInfo(idToken).status == .unauthorized)
        #expect(try await world.introspect(idToken) == ["active": false])
        let access = try #require(answer.json["access_token"]?.string)
        let keys = try await world.keySet()
        #expect(throws: TokenRejection.wrongType) {
            try IDToken.check(
                access, keys: keys, issuer: issuer, clientID: "es",
                nonce: nil, at: world.clock.next())
        }
    }

    @Test func `signed tokens of another signer, or altered ones, are refused`() async throws {
        let world = try await world()
        let answer = try await world.signIn("es")
        let access = try #require(answer.json["access_token"]?.string)
        let real = try await read(answer, world)
        let name = try #require(try header(of: access)["kid"]?.string)
        let stranger = try SigningKey.pooled(.es256, id: name)
        let forged = try real.signed(by: stranger)
        #expect(try await world.userInfo(forged).status == .unauthorized)
        let parts = access.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"at+jwt"}"#.utf8))
        for wrong in [
            "\(none).\(parts[1]).", "\(parts[0]).\(parts[1]).", "\(access).", "..",
            "\(parts[0]).\(parts[1]).\(parts[2].dropLast(2))", access + "A",
        ] {
            #expect(try await world.userInfo(wrong).status == .unauthorized, "\(wrong)")
            #expect(try await world.introspect(wrong) == ["active": false])
        }
    }
}
