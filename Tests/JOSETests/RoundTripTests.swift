import JOSE
import JSON
import Testing
import Values

@Suite struct `Tokens that Urd makes` {
    @Test(arguments: SigningAlgorithm.allCases)
    func `an access token made by Urd is read back`(algorithm: SigningAlgorithm) throws {
        let token = AccessToken.sample()
        let text = try token.signed(by: Keys.key(algorithm))
        let read = try AccessToken.check(
            text, keys: Keys.both(), rules: AccessToken.rules, at: now)
        #expect(read == token)
        let header = String(
            decoding: try #require(Base64URL.decode(parts(text)[0])), as: UTF8.self)
        #expect(
            header
                == #"{"alg":"\#(algorithm.rawValue)","kid":"\#(try Keys.key(algorithm).id)","typ":"at+jwt"}"#
        )
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `an identity token made by Urd is read back`(algorithm: SigningAlgorithm) throws {
        let access = try AccessToken.sample().signed(by: Keys.es256())
        let token = IDToken(
            issuer: "https://id.example", subject: "018f", clientID: "app", issuedAt: now,
            expiresAt: now.adding(seconds: 300), nonce: "n", authenticatedAt: now,
            authenticationContext: "c", authenticationMethods: ["otp"], accessToken: access,
            additional: ["email": "ann@example.org"])
        let text = try token.signed(by: Keys.key(algorithm))
        func check(nonce: String?, access: String?) throws -> IDToken {
            try IDToken.check(
                text, keys: Keys.both(), issuer: "https://id.example", clientID: "app",
                nonce: nonce, accessToken: access, at: now)
        }
        #expect(try check(nonce: "n", access: access) == token)
        #expect(try check(nonce: nil, access: nil) == token)
        #expect(throws: TokenRejection.wrongNonce) { try check(nonce: "m", access: nil) }
        #expect(throws: TokenRejection.wrongAccessTokenHash) {
            try check(nonce: "n", access: access + "A")
        }
        #expect(throws: TokenRejection.wrongAudience) {
            try IDToken.check(
                text, keys: Keys.both(), issuer: "https://id.example", clientID: "other",
                nonce: nil, at: now)
        }
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a client assertion made by Urd is read back`(algorithm: SigningAlgorithm) throws {
        let assertion = ClientAssertion.sample()
        let key = try Keys.key(algorithm)
        let text = try assertion.signed(by: key)
        #expect(try ClientAssertion.claimedClient(in: text) == "app")
        let read = try ClientAssertion.check(
            text, of: "app", keys: KeySet([key.verificationKey]),
            algorithms: [algorithm.verification], rules: ClientAssertion.rules, at: now)
        #expect(read == assertion)
        #expect(ClientAssertion.rules.lastUse(of: read) == now.adding(seconds: 90))
    }

    /// OpenID Connect Core shows the computation in its appendix A.3, with this access token.
    @Test func `an identity token's at_hash equals the example of OpenID Connect`() {
        #expect(
            IDToken.hash(ofAccessToken: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")
                == "77QmUPtjPfzWtF2AnpK9RQ")
    }

    @Test func `a token made by Urd is refused by other audiences`() throws {
        var token = IDToken(
            issuer: "https://id.example", subject: "018f", clientID: "app", issuedAt: now,
            expiresAt: now.adding(seconds: 300), additional: ["azp": "other"])
        let key = try Keys.es256()
        func check(_ text: String) throws -> IDToken {
            try IDToken.check(
                text, keys: KeySet([key.verificationKey]), issuer: "https://id.example",
                clientID: "app", nonce: nil, at: now)
        }
        let read = try check(token.signed(by: key))
        token.additional = [:]
        #expect(read == token)
        for (party, isRight) in [("app", true), ("other", false)] {
            let claims = """
                {"iss":"https://id.example","sub":"018f","aud":"app","azp":"\(party)",\
                "iat":\(now.seconds),"exp":\(now.seconds + 60)}
                """
            let text = try signedRaw(#"{"alg":"ES256"}"#, claims, by: key)
            if isRight {
                #expect(throws: Never.self) { try check(text) }
            } else {
                #expect(throws: TokenRejection.wrongClient) { try check(text) }
            }
        }
    }

    @Test func `a token's additional claim cannot replace a registered one`() throws {
        let token = AccessToken.sample {
            $0.additional = ["sub": "admin", "aud": "x", "acr": "gold", "scope": "all"]
            $0.authenticationContext = nil
            $0.scope = []
        }
        let read = try AccessToken.check(
            token.signed(by: Keys.es256()), keys: Keys.both(), rules: AccessToken.rules, at: now)
        #expect(read.subject == "018f")
        #expect(read.authenticationContext == nil)
        #expect(read.scope == [])
        #expect(read.additional == [:])
    }

    @Test func `a token made by Urd is refused as any other kind`() throws {
        let key = try Keys.es256()
        let keys = KeySet([key.verificationKey])
        let identity = try IDToken(
            issuer: "https://id.example", subject: "018f", clientID: "https://api.example",
            issuedAt: now, expiresAt: now.adding(seconds: 300)
        ).signed(by: key)
        #expect(throws: TokenRejection.wrongType) {
            try AccessToken.check(identity, keys: keys, rules: AccessToken.rules, at: now)
        }
        let access = try AccessToken.sample { $0.audience = ["app"] }.signed(by: key)
        #expect(throws: TokenRejection.wrongType) {
            try IDToken.check(
                access, keys: keys, issuer: "https://id.example", clientID: "app", nonce: nil,
                at: now)
        }
        #expect(throws: TokenRejection.wrongType) {
            try ClientAssertion.check(
                access, of: "app", keys: keys, algorithms: [.es256],
                rules: ClientAssertion.rules, at: now)
        }
        #expect(throws: TokenRejection.wrongSubject) {
            try ClientAssertion.check(
                identity, of: "app", keys: keys, algorithms: [.es256],
                rules: ClientAssertion.rules, at: now)
        }
    }
}
