import Cryptography
import JSON
import Testing
import Values

@testable import JOSE

/// Urd does not sign tokens with Ed25519, so that these are put together by hand.
@Suite struct `Tokens under Ed25519` {
    private func token(
        _ name: String, claims: String, by key: Ed25519.PrivateKey
    ) throws -> String {
        let input = base64URL(#"{"alg":"\#(name)"}"#) + "." + base64URL(claims)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
    }

    @Test(arguments: [Algorithm.edDSA, .ed25519])
    func `Ed25519 tokens are verified by the key's algorithm name`(algorithm: Algorithm) throws {
        let key = try Ed25519.PrivateKey.generate()
        let other: Algorithm = algorithm == .edDSA ? .ed25519 : .edDSA
        let open = try #require(VerificationKey(.ed25519(key.publicKey)))
        let bound = try #require(VerificationKey(.ed25519(key.publicKey), algorithm: algorithm))
        let text = try token(algorithm.rawValue, claims: "{}", by: key)
        for reader in [open, bound] {
            #expect(throws: Never.self) { try verify(text, keys: KeySet([reader])) }
        }
        let renamed = try token(other.rawValue, claims: "{}", by: key)
        #expect(throws: TokenRejection.unknownKey) {
            try verify(renamed, keys: KeySet([bound]))
        }
        let signature = try key.sign([1])
        #expect(bound.isValid(signature, for: [1], by: algorithm))
        #expect(!bound.isValid(signature, for: [1], by: other))
        #expect(!open.isValid(signature, for: [1], by: .es256))
        #expect(VerificationKey(.ed25519(key.publicKey), algorithm: .es256) == nil)
    }

    /// Which hash belongs to it is not agreed on, so that none may pass for right.
    @Test func `Ed25519 tokens of other types are refused as access tokens`() throws {
        let key = try Ed25519.PrivateKey.generate()
        let hash = IDToken.hash(ofAccessToken: "access")
        let claims = """
            {"iss":"https://id.example","sub":"018f","aud":"app","at_hash":"\(hash)",\
            "iat":\(now.seconds),"exp":\(now.seconds + 60)}
            """
        let text = try token("EdDSA", claims: claims, by: key)
        let reader = try #require(VerificationKey(.ed25519(key.publicKey)))
        func check(_ accessToken: String?) throws -> IDToken {
            try IDToken.check(
                text, keys: KeySet([reader]), issuer: "https://id.example", clientID: "app",
                nonce: nil, accessToken: accessToken, at: now, algorithms: [.edDSA])
        }
        #expect(throws: Never.self) { try check(nil) }
        #expect(throws: TokenRejection.wrongAccessTokenHash) { try check("access") }
    }

    @Test func `Ed25519 tokens under a key of small order are refused`() throws {
        let neutral: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
        #expect(throws: JWKRejection.malformed) {
            try VerificationKey(
                jwk: ["kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(neutral))])
        }
    }
}
