import Cryptography
import JSON
import Testing
import Values

@testable import JOSE

@Suite struct `Keys as JSON` {
    @Test(arguments: SigningAlgorithm.allCases)
    func `JSON web keys survive writing and reading`(algorithm: SigningAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let jwk = key.verificationKey.jwk
        #expect(try VerificationKey(jwk: jwk) == key.verificationKey)
        #expect(jwk["kid"] == .string(key.id))
        #expect(jwk["use"] == "sig")
        #expect(jwk["alg"] == .string(algorithm.rawValue))
        #expect(key.id == key.verificationKey.thumbprint)
        for secret in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] { #expect(jwk[secret] == nil) }
        let again = try SigningKey(pkcs8: key.pkcs8(), algorithm: algorithm)
        #expect(again.verificationKey == key.verificationKey)
        let other: SigningAlgorithm = algorithm == .es256 ? .rs256 : .es256
        #expect(throws: Failure.self) { try SigningKey(pkcs8: key.pkcs8(), algorithm: other) }
    }

    /// RFC 7638 section 3.1 and RFC 8037 appendix A.3.
    @Test func `JSON web keys have the thumbprints of the RFCs`() throws {
        let rsa: JSON = [
            "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
            "n": .string(
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tS"
                    + "oc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5"
                    + "v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbIS"
                    + "D08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-"
                    + "kEgU8awapJzKnqDKgw"),
        ]
        let key = try VerificationKey(jwk: rsa)
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.id == "2011-04-29")
        let edwards: JSON = [
            "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        ]
        #expect(
            try VerificationKey(jwk: edwards).thumbprint
                == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    private func changed(_ changes: [String: JSON?]) throws -> JSON {
        guard case .object(var members) = try Keys.es256().verificationKey.jwk else {
            throw Keys.None()
        }
        for (name, value) in changes { members[name] = value }
        return .object(members)
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
    func `JSON web keys with private members are refused`(name: String) throws {
        let value = try changed([name: "AA"])
        #expect(throws: JWKRejection.holdsSecret) { try VerificationKey(jwk: value) }
        #expect(throws: JWKRejection.holdsSecret) { try KeySet(jwks: ["keys": [value]]) }
        let symmetric: JSON = ["kty": "oct", "k": "AA"]
        #expect(throws: JWKRejection.holdsSecret) { try KeySet(jwks: ["keys": [symmetric]]) }
    }

    @Test(
        arguments: [
            (["kty": nil], JWKRejection.malformed), (["kty": 1], .malformed),
            (["kty": "RSA"], .malformed),
            (["kty": "OKP"], .unsupportedKey), (["kty": "ec"], .unsupportedKey),
            (["crv": nil], .unsupportedKey),
            (["crv": "P-384"], .malformed), (["crv": "P-521"], .unsupportedKey),
            (["crv": "secp256k1"], .unsupportedKey),
            (["x": nil], .malformed), (["y": nil], .malformed), (["x": ""], .malformed),
            (["x": "AA=="], .malformed),
            (["use": "enc"], .notForSignatures), (["use": 1], .malformed),
            (["use": "SIG"], .notForSignatures),
            (["key_ops": ["sign"]], .notForSignatures), (["key_ops": "verify"], .malformed),
            (["alg": "RS256"], .wrongAlgorithm), (["alg": "ES384"], .wrongAlgorithm),
            (["alg": "none"], .wrongAlgorithm),
            (["alg": "HS256"], .wrongAlgorithm), (["alg": 1], .malformed), (["kid": 1], .malformed),
            (["kid": ""], .malformed),
            (["kid": .string(String(repeating: "k", count: 257))], .malformed),
        ] as [([String: JSON?], JWKRejection)])
    func `JSON web keys with an invalid member are refused`(
        changes: [String: JSON?], rejection: JWKRejection
    )
        throws
    {
        let value = try changed(changes)
        #expect(throws: rejection) { try VerificationKey(jwk: value) }
        // A set passes over it and keeps what is good.
        let good = try Keys.rs256().verificationKey
        #expect(try KeySet(jwks: ["keys": [value, good.jwk]]).keys == [good])
    }

    @Test func `JSON web keys off the curve, at infinity or with altered coordinates are refused`()
        throws
    {
        let jwk = try Keys.es256().verificationKey.jwk
        let x = try #require(jwk["x"])
        let y = try #require(jwk["y"])
        let text = try #require(x.string)
        let bytes = try #require(Base64URL.decode(text))
        let zero = JSON.string(Base64URL.encode([UInt8](repeating: 0, count: 32)))
        for changes: [String: JSON?] in [
            ["x": y, "y": x], ["x": zero, "y": zero], ["y": x],
            ["x": .string(Base64URL.encode([0] + bytes))],
            ["x": .string(Base64URL.encode(Array(bytes.dropLast())))],
            ["x": .string(text + "=")],
        ] {
            let value = try changed(changes)
            #expect(throws: JWKRejection.malformed) { try VerificationKey(jwk: value) }
        }
    }

    @Test func `RSA keys in JSON that are short, zero-padded or have odd exponents are refused`()
        throws
    {
        guard case .object(let members) = try Keys.rs256().verificationKey.jwk else {
            throw Keys.None()
        }
        let modulus = try #require(Base64URL.decode(members["n"]?.string ?? ""))
        for (n, e) in [
            (Array(modulus.prefix(128)), [1, 0, 1]), ([0] + modulus, [1, 0, 1]),
            (modulus, [0, 1, 0, 1]),
            (modulus, [1]), (modulus, [2]), (modulus, []), ([], [1, 0, 1]),
            ([UInt8](repeating: 0xFF, count: 1200), [1, 0, 1]),
        ] as [([UInt8], [UInt8])] {
            var changed = members
            changed["n"] = .string(Base64URL.encode(n))
            changed["e"] = .string(Base64URL.encode(e))
            #expect(throws: JWKRejection.unsupportedKey) {
                try VerificationKey(jwk: .object(changed))
            }
        }
    }

    @Test func `JSON web key sets keep their order and are searched by id and algorithm`() throws {
        let set = try Keys.both()
        #expect(try KeySet(jwks: set.document) == set)
        #expect(try KeySet(parsing: set.document.canonical()) == set)
        let (ec, rsa) = (set.keys[0], set.keys[1])
        #expect(set.key(id: ec.id, for: .es256) == ec)
        #expect(set.key(id: nil, for: .rs256) == rsa)
        #expect(set.key(id: ec.id, for: .rs256) == nil)
        #expect(set.key(id: "x", for: .es256) == nil)
        #expect(set.key(id: nil, for: .edDSA) == nil)
        #expect(KeySet([ec, ec]).key(id: ec.id, for: .es256) == nil)
    }

    @Test func `JSON web key sets are limited in number and size`() throws {
        let jwk = try Keys.es256().verificationKey.jwk
        let many = JSON.array(Array(repeating: jwk, count: 33))
        #expect(throws: JWKRejection.tooMany) { try KeySet(jwks: ["keys": many]) }
        for document: JSON in [[:], [], "x", ["keys": [:]], ["keys": .null]] {
            #expect(throws: JWKRejection.malformed) { try KeySet(jwks: document) }
        }
        #expect(try KeySet(jwks: ["keys": ["x", [], [:], 1]]).keys == [])
        let space = [UInt8](repeating: 0x20, count: 200_000)
        #expect(throws: JWKRejection.malformed) { try KeySet(parsing: space + Array("{}".utf8)) }
        let twice = #"{"keys":[],"keys":[]}"#
        #expect(throws: JWKRejection.malformed) { try KeySet(parsing: Array(twice.utf8)) }
    }
}
