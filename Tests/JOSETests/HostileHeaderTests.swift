import JSON
import Testing
import Values

@testable import JOSE

@Suite struct `Hostile headers are refused` {
    @Test(arguments: [
        #""crit":["exp"],"exp":1"#, #""crit":[]"#, #""crit":null"#, #""crit":["b64"],"b64":false"#,
        #""b64":false"#, #""b64":true"#, #""enc":"A256GCM""#, #""zip":"DEF""#,
        #""cr\u0069t":["x"]"#,
    ])
    func `a token with a critical header is refused`(member: String) throws {
        let text = try signedRaw(#"{"alg":"ES256",\#(member)}"#, "{}", by: Keys.es256())
        #expect(throws: TokenRejection.unsupportedHeader) { try verify(text) }
    }

    @Test func `a token with an embedded key is refused`() throws {
        let attacker = try SigningKey.generate(.es256)
        let jwk = String(decoding: attacker.verificationKey.jwk.canonical(), as: UTF8.self)
        for member in [
            #""jwk":\#(jwk)"#, #""jku":"https://evil.example/jwks""#,
            #""x5u":"https://evil.example/x""#, #""x5c":["AA"]"#,
        ] {
            let text = try signedRaw(#"{"alg":"ES256",\#(member)}"#, "{}", by: attacker)
            #expect(throws: TokenRejection.badSignature) { try verify(text) }
        }
    }

    @Test(arguments: [
        #"{"alg":"ES256","alg":"ES256"}"#, #"{"alg":"none","\u0061lg":"ES256"}"#, "", "[]", "null",
        #""ES256""#, #"{"alg":"ES256"}x"#, #"{"alg":"ES256","kid":1}"#,
        #"{"alg":"ES256","typ":{}}"#,
        #"{"alg":"ES256","a":\#(String(repeating: "[", count: 2000))"#,
        #"{"alg":"ES256","a":[[[[1]]]]}"#, "{\"alg\":\"ES256\",\"a\":\"\u{1}\"}",
        #"{"alg":"ES256","a":1.5}"#,
        #"{"alg":"ES256","kid":"\#(String(repeating: "k", count: 257))"}"#,
    ])
    func `a token whose header is not a valid JSON object is refused`(header: String) throws {
        let text = try signedRaw(header, "{}", by: Keys.es256())
        #expect(throws: TokenRejection.malformed) { try verify(text) }
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b", "a.b.c.d", "e30", "e30.e30", "e30..", ".e30.e30",
        "e30.e30.AA.AA.AA", "🔑.🔑.🔑", "e30.e30.AA\0",
    ])
    func `a malformed token is refused`(text: String) throws {
        #expect(throws: TokenRejection.self) { try verify(text) }
    }

    @Test func `a token with too large a header, body or nesting is refused`() throws {
        let key = try Keys.es256()
        let large = String(repeating: "x", count: 4000)
        #expect(throws: TokenRejection.tooLarge) {
            try verify(signedRaw(#"{"alg":"ES256","x":"\#(large)"}"#, "{}", by: key))
        }
        #expect(throws: TokenRejection.tooLarge) {
            try verify(
                signedRaw(#"{"alg":"ES256"}"#, String(repeating: "y", count: 20_000), by: key))
        }
        #expect(throws: TokenRejection.tooLarge) {
            try verify(String(repeating: ".", count: 10_000_000))
        }
        let deep = #"{"a":\#(String(repeating: "[", count: 6000))"#
        let text = try signedRaw(#"{"alg":"ES256"}"#, deep, by: key)
        let verified = try verify(text)
        #expect(throws: TokenRejection.malformed) { try Claims(payload: verified.payload) }
    }

    @Test(arguments: ["JWT", "at+JWT", "application/at+jwt", "APPLICATION/AT+JWT"])
    func `a token's type may be written in equivalent forms`(type: String) throws {
        let text = try signedRaw(#"{"alg":"ES256","typ":"\#(type)"}"#, "{}", by: Keys.es256())
        let rules = JWS.Rules(types: TokenTypes(["at+jwt", "jwt"]))
        #expect(throws: Never.self) { try verify(text, rules: rules) }
    }

    @Test(arguments: [
        "", "jwt", "at+jwt ", "at", "application/application/at+jwt", "x/at+jwt", "dpop+jwt",
        "logout+jwt", "at+jwt/application", "a\u{0308}t+jwt",
    ])
    func `a token of another type, or without the demanded one, is refused`(type: String) throws {
        let rules = JWS.Rules(types: .accessToken)
        let text = try signedRaw(#"{"alg":"ES256","typ":"\#(type)"}"#, "{}", by: Keys.es256())
        #expect(throws: TokenRejection.wrongType) { try verify(text, rules: rules) }
        let untyped = try signedRaw(#"{"alg":"ES256"}"#, "{}", by: Keys.es256())
        #expect(throws: TokenRejection.wrongType) { try verify(untyped, rules: rules) }
    }

    @Test func `a token whose type has the same ending in another tree is refused`() {
        #expect(TokenTypes(["x/at+jwt"]).accepts("X/at+jwt"))
        #expect(!TokenTypes(["x/at+jwt"]).accepts("application/x/at+jwt"))
        #expect(TokenTypes(["application/x/at+jwt"]).accepts("application/x/at+jwt"))
    }

    @Test func `a token with another key's id is refused`() throws {
        let (one, two) = (try SigningKey.generate(.es256), try SigningKey.generate(.es256))
        let keys = KeySet([one.verificationKey, two.verificationKey])
        let confused = try signedRaw(#"{"alg":"ES256","kid":"\#(one.id)"}"#, "{}", by: two)
        #expect(throws: TokenRejection.badSignature) { try verify(confused, keys: keys) }
        for id in ["", "unknown", one.id + " ", "../" + one.id, "\(one.id)\\u0000", "0' or '1'='1"]
        {
            let text = try signedRaw(#"{"alg":"ES256","kid":"\#(id)"}"#, "{}", by: one)
            #expect(throws: TokenRejection.unknownKey) { try verify(text, keys: keys) }
        }
        // Without a name, either could be meant.
        let nameless = try signedRaw(#"{"alg":"ES256"}"#, "{}", by: one)
        #expect(throws: TokenRejection.unknownKey) { try verify(nameless, keys: keys) }
        #expect(throws: Never.self) { try verify(nameless, keys: KeySet([one.verificationKey])) }
    }

    /// The Kelvin sign is canonically the letter K, so that Swift's `==` takes them for equal.
    @Test func `a token with a look-alike key id is refused`() throws {
        let key = try SigningKey.generate(.es256, id: "K")
        let text = try signedRaw("{\"alg\":\"ES256\",\"kid\":\"\u{212A}\"}", "{}", by: key)
        #expect(throws: TokenRejection.unknownKey) {
            try verify(text, keys: KeySet([key.verificationKey]))
        }
    }
}
