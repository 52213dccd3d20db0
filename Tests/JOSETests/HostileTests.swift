import Cryptography
import JSON
import Testing
import Values

@testable import JOSE

@Suite struct `Hostile tokens are refused` {
    private static let payload = #"{"a":1}"#

    @Test(arguments: [
        "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "ES512", "RS512", "es256",
        "ES256 ", "PS384", "ES256K", "dir",
    ])
    func `a token with an unsupported algorithm is refused`(name: String) throws {
        let header = #"{"alg":"\#(name)"}"#
        for signature in ["", "AA", parts(try signedRaw("{}", "{}", by: Keys.es256()))[2]] {
            let text = "\(base64URL(header)).\(base64URL(Self.payload)).\(signature)"
            #expect(throws: TokenRejection.algorithmNotAllowed) { try verify(text) }
        }
    }

    @Test func `a token signed by HMAC with the public key is refused`() throws {
        let key = try Keys.rs256().verificationKey
        guard case .rsa(let material) = key.material else { throw Keys.None() }
        let secrets = [try material.spki(), material.modulus, key.jwk.canonical()]
        for secret in secrets {
            let id = try #require(key.id)
            let input = base64URL(#"{"alg":"HS256","kid":"\#(id)"}"#) + "." + base64URL("{}")
            let tag = HMACKey(secret).authenticate(Array(input.utf8))
            #expect(throws: TokenRejection.algorithmNotAllowed) {
                try verify(input + "." + Base64URL.encode(tag))
            }
        }
    }

    @Test(arguments: SigningAlgorithm.allCases)
    func `a token with any character changed, removed or added is refused`(
        algorithm: SigningAlgorithm
    ) throws {
        let text = try JWS.sign(Array(Self.payload.utf8), by: Keys.key(algorithm), type: "JWT")
        #expect(throws: Never.self) { try verify(text) }
        let bytes = Array(text.utf8)
        for index in bytes.indices {
            for other in [UInt8(ascii: "A"), UInt8(ascii: "_"), bytes[index] ^ 1] {
                var changed = bytes
                changed[index] = other
                if changed == bytes { continue }
                #expect(throws: TokenRejection.self) {
                    try verify(String(decoding: changed, as: UTF8.self))
                }
            }
            var shorter = bytes
            shorter.remove(at: index)
            #expect(throws: TokenRejection.self) {
                try verify(String(decoding: shorter, as: UTF8.self))
            }
            #expect(throws: TokenRejection.self) {
                try verify(String(decoding: bytes[..<index], as: UTF8.self))
            }
        }
        for added in ["A", "=", "==", ".", ".A", " ", "\n", "\0", "\u{FEFF}"] {
            #expect(throws: TokenRejection.self) { try verify(text + added) }
            #expect(throws: TokenRejection.self) { try verify(added + text) }
        }
    }

    /// The last sign of a part carries bits that count for nothing: all spellings but one.
    @Test func `a token with another spelling of the same bytes is refused`() throws {
        let text = try JWS.sign(Array(Self.payload.utf8), by: Keys.es256(), type: "JWT")
        let last = try #require(text.last)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for sign in alphabet where sign != last {
            #expect(throws: TokenRejection.self) { try verify(String(text.dropLast()) + [sign]) }
        }
        let padded = parts(text).map { $0 + String(repeating: "=", count: 3 - ($0.count + 3) % 4) }
        #expect(throws: TokenRejection.malformed) { try verify(padded.joined(separator: ".")) }
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        if standard != text { #expect(throws: TokenRejection.self) { try verify(standard) } }
    }

    @Test func `a token with a signature of zeros, of the order, or none is refused`() throws {
        let input = base64URL(#"{"alg":"ES256"}"#) + "." + base64URL("{}")
        let keys = KeySet([try Keys.es256().verificationKey])
        let zero = [UInt8](repeating: 0, count: 32)
        let order = ECDSAOrder.p256
        for signature in [zero + zero, order + order, zero + order, order + zero, zero, [0]] {
            #expect(throws: TokenRejection.badSignature) {
                try verify(input + "." + Base64URL.encode(signature), keys: keys)
            }
        }
        #expect(throws: TokenRejection.badSignature) { try verify(input + ".", keys: keys) }
    }

    @Test func `a token with a DER signature is refused`() throws {
        let key = try Keys.es256()
        let text = try signedRaw(#"{"alg":"ES256"}"#, "{}", by: key)
        let raw = try #require(Base64URL.decode(parts(text)[2]))
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var bytes = Array(bytes.drop { $0 == 0 })
            if bytes.first ?? 0x80 >= 0x80 { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }
        let body = integer(raw[..<32]) + integer(raw[32...])
        let der = [0x30, UInt8(body.count)] + body
        let start = parts(text)[0] + "." + parts(text)[1]
        #expect(throws: TokenRejection.badSignature) {
            try verify(
                start + "." + Base64URL.encode(der), keys: KeySet([key.verificationKey]))
        }
    }

    @Test func `a token with a key of one kind under an algorithm of another is refused`() throws {
        let pairs = [(try Keys.es256(), "RS256"), (try Keys.rs256(), "ES256")]
        for (key, name) in pairs {
            for header in [#"{"alg":"\#(name)"}"#, #"{"alg":"\#(name)","kid":"\#(key.id)"}"#] {
                let text = try signedRaw(header, "{}", by: key)
                #expect(throws: TokenRejection.unknownKey) {
                    try verify(text, keys: KeySet([key.verificationKey]))
                }
            }
        }
        // The same key, but it was published for RS256 alone.
        let key = try Keys.rs256()
        let text = try signedRaw(#"{"alg":"PS256"}"#, "{}", by: key)
        #expect(throws: TokenRejection.unknownKey) {
            try verify(text, keys: KeySet([key.verificationKey]))
        }
        let open = try #require(VerificationKey(key.verificationKey.material))
        #expect(throws: TokenRejection.badSignature) { try verify(text, keys: KeySet([open])) }
    }

    @Test func `a token with a disallowed algorithm is refused, although its key is right`() throws
    {
        let text = try signedRaw(#"{"alg":"RS256"}"#, "{}", by: Keys.rs256())
        var rules = anything
        rules.algorithms = [.es256]
        #expect(throws: TokenRejection.algorithmNotAllowed) { try verify(text, rules: rules) }
    }
}

enum ECDSAOrder {
    static let p256: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
        0x25, 0x51,
    ]
}
