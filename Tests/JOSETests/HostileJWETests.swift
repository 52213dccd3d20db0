import Cryptography
import JSON
import Testing
import Values

@testable import JOSE

@Suite struct `Hostile encrypted messages` {
    private func refuse(
        _ text: String, _ reason: TokenRejection, location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: reason, sourceLocation: location) {
            try JWE.decrypt(text, by: DecryptionKeys.all())
        }
    }

    /// Sealed rightly, with whatever header and key a test thinks of.
    private func message(
        _ header: String, encryptedKey: [UInt8] = [], content: SecretBytes = .random(32)
    ) throws -> String {
        let head = base64URL(header)
        let sealed = try AESGCM.seal([1, 2, 3], key: content, authenticating: Array(head.utf8))
        return [
            head, Base64URL.encode(encryptedKey), Base64URL.encode(Array(sealed[..<12])),
            Base64URL.encode(Array(sealed[12..<15])), Base64URL.encode(Array(sealed[15...])),
        ].joined(separator: ".")
    }

    private func toRSA(
        _ members: String = "", content: SecretBytes = .random(32)
    ) throws -> String {
        guard case .rsa(let key) = try DecryptionKeys.key(.rsaOAEP256).encryptionKey.material
        else { return "" }
        return try message(
            #"{"alg":"RSA-OAEP-256","enc":"A256GCM"\#(members)}"#,
            encryptedKey: RSAOAEP.encrypt(content, to: key), content: content)
    }

    @Test(arguments: [
        #","zip":"DEF""#, #","zip":null"#, #","crit":["x"],"x":1"#, #","crit":[]"#,
        #","b64":true"#,
    ])
    func `a header that changes what the message means is refused`(members: String) throws {
        refuse(try toRSA(members), .unsupportedHeader)
        #expect(throws: Never.self) {
            try JWE.decrypt(toRSA(#","x":1"#), by: DecryptionKeys.all())
        }
    }

    @Test(arguments: [
        ("RSA1_5", "A256GCM"), ("RSA-OAEP", "A256GCM"), ("RSA-OAEP-384", "A256GCM"),
        ("dir", "A256GCM"), ("A256KW", "A256GCM"), ("ECDH-ES+A256KW", "A256GCM"),
        ("PBES2-HS256+A128KW", "A256GCM"), ("none", "A256GCM"), ("", "A256GCM"),
        ("rsa-oaep-256", "A256GCM"), ("RSA-OAEP-256", "A128GCM"), ("RSA-OAEP-256", "A256CBC-HS512"),
        ("RSA-OAEP-256", "A192CBC-HS384"), ("ECDH-ES", "a128cbc-hs256"), ("ECDH-ES", "A128CBC"),
        ("ECDH-ES", "none"), ("ECDH-ES", ""),
    ])
    func `another algorithm is refused`(algorithm: String, encryption: String) throws {
        refuse(
            try message(#"{"alg":"\#(algorithm)","enc":"\#(encryption)"}"#), .algorithmNotAllowed)
    }

    @Test(arguments: [
        "", ".", "....", "a.b.c.d.e", "a.b.c.d.e.f", "e30....", "e30.AA.AA.AA.AA",
    ])
    func `a text of another form is refused`(text: String) {
        #expect(throws: TokenRejection.self) {
            try JWE.decrypt(text, by: DecryptionKeys.all())
        }
    }

    @Test func `a message with parts that are too long or too short is refused`() throws {
        let good = parts(try toRSA())
        func with(_ index: Int, _ bytes: Int) -> String {
            var parts = good
            parts[index] = Base64URL.encode([UInt8](repeating: 1, count: bytes))
            return parts.joined(separator: ".")
        }
        for count in [0, 11, 13, 16] { refuse(with(2, count), .malformed) }
        for count in [0, 4, 15, 17, 32] { refuse(with(4, count), .malformed) }
        for count in [0, 1, 255, 257, 256] { refuse(with(1, count), .badSignature) }
        refuse(with(3, 50_000), .tooLarge)
        let header = #"{"alg":"RSA-OAEP-256","enc":"A256GCM","x":"\#(good[1])\#(good[1])"#
        let long = header + String(repeating: "x", count: 4000) + #""}"#
        refuse(try message(long), .tooLarge)
        refuse(good.joined(separator: ".") + ".", .malformed)
        refuse(good.joined(separator: ".") + "=", .malformed)
    }

    /// Each way to encrypt has a nonce of its own length; a message that says another way than it was sealed in is another.
    @Test func `a message that claims another encryption is refused`() throws {
        let text = parts(try toRSA())
        let header = base64URL(#"{"alg":"RSA-OAEP-256","enc":"A128CBC-HS256"}"#)
        refuse(([header] + text.dropFirst()).joined(separator: "."), .malformed)
        for (count, reason) in [
            (12, TokenRejection.malformed), (15, .malformed), (16, .badSignature),
        ] {
            let nonce = Base64URL.encode([UInt8](repeating: 1, count: count))
            for length in [0, 3, 16, 32] {
                let body = Base64URL.encode([UInt8](repeating: 1, count: length))
                refuse([header, text[1], nonce, body, text[4]].joined(separator: "."), reason)
            }
        }
    }

    /// A shared key's messages are read in one way alone.
    @Test func `a message under a shared key is not read in the ways of others`() throws {
        let (outer, inner) = (SecretBytes.random(32), SecretBytes.random(32))
        func shared(_ encryption: String) throws -> String {
            try message(
                #"{"alg":"A256KW","enc":"\#(encryption)"}"#,
                encryptedKey: AESKeyWrap.wrap(inner, key: outer), content: inner)
        }
        #expect(try CompactJWE.open(shared("A256GCM"), keys: [outer]) == [1, 2, 3])
        #expect(throws: TokenRejection.algorithmNotAllowed) {
            try CompactJWE.open(shared("A128CBC-HS256"), keys: [outer])
        }
    }

    /// A content key of another length is as wrong as none at all, and is told alike.
    @Test(arguments: [1, 16, 31, 33, 64])
    func `a content key of another length is refused`(count: Int) throws {
        guard case .rsa(let key) = try DecryptionKeys.key(.rsaOAEP256).encryptionKey.material
        else { return }
        let text = try message(
            #"{"alg":"RSA-OAEP-256","enc":"A256GCM"}"#,
            encryptedKey: RSAOAEP.encrypt(.random(count), to: key))
        refuse(text, .badSignature)
    }

    /// What a failed decryption leaves in its room is no key, neither zeros nor a piece of it.
    @Test func `a message under a key of zeros is refused where its key does not open`() throws {
        let zeros = SecretBytes([UInt8](repeating: 0, count: 32))
        for byte: UInt8 in [0, 1, 0x7F] {
            let text = try message(
                #"{"alg":"RSA-OAEP-256","enc":"A256GCM"}"#,
                encryptedKey: [UInt8](repeating: byte, count: 256), content: zeros)
            refuse(text, .badSignature)
        }
        refuse(
            try message(#"{"alg":"ECDH-ES","enc":"A256GCM"}"#, content: zeros), .badSignature)
    }

    @Test(arguments: JWE.KeyManagement.allCases)
    func `a message of which any sign was changed is refused, behind the header always alike`(
        algorithm: JWE.KeyManagement
    ) throws {
        let key = try DecryptionKeys.key(algorithm)
        let text = try JWE.encrypt([1, 2, 3, 4], to: key.encryptionKey)
        let bytes = Array(text.utf8)
        let header = parts(text)[0].utf8.count
        for index in bytes.indices {
            for other in [UInt8(ascii: "A"), UInt8(ascii: "_")] where bytes[index] != other {
                var changed = bytes
                changed[index] = other
                do {
                    _ = try JWE.decrypt(
                        String(decoding: changed, as: UTF8.self), by: DecryptionKeys.all())
                    Issue.record("byte \(index) may be \(other)")
                } catch {
                    let reason = error as? TokenRejection
                    #expect(
                        index < header || reason == .badSignature || reason == .malformed)
                }
            }
        }
    }

    // MARK: - Curves

    /// Where the reader would agree with a point that is not on its curve, a sender learns the private key
    /// bit by bit.
    @Test(arguments: [
        #"{"kty":"EC","crv":"P-256","x":"X","y":"Z"}"#,
        #"{"kty":"EC","crv":"P-256","x":"0","y":"0"}"#,
        #"{"kty":"EC","crv":"P-256","x":"X","y":"S"}"#, #"{"kty":"EC","crv":"P-256","x":"X"}"#,
        #"{"kty":"EC","crv":"P-384","x":"X","y":"Y"}"#,
        #"{"kty":"EC","crv":"P-521","x":"X","y":"Y"}"#,
        #"{"kty":"EC","x":"X","y":"Y"}"#, #"{"kty":"OKP","crv":"X25519","x":"X"}"#,
        #"{"kty":"EC","crv":"P-256","x":"X","y":"Y","d":"X"}"#, #"{"kty":"oct","k":"X"}"#,
        #"{"kty":"RSA","n":"X","e":"AQAB"}"#, "1", "null", "[]", "{}",
        #"{"kty":"EC","crv":"P-256","x":"P","y":"Y"}"#,
    ])
    func `a sender's key that is no point of the curve is refused like a wrong tag`(
        epk: String
    ) throws {
        let key = try ES256.PrivateKey.generate().publicKey
        var other = key.y
        other[31] ^= 1
        var epk = epk
        for (name, bytes) in [
            ("X", key.x), ("Y", key.y), ("Z", other), ("0", [UInt8](repeating: 0, count: 32)),
            ("S", Array(key.y.dropFirst())), ("P", [0] + key.x),
        ] {
            epk = epk.replacing("\"\(name)\"", with: "\"\(Base64URL.encode(bytes))\"")
        }
        refuse(
            try message(#"{"alg":"ECDH-ES","enc":"A256GCM","epk":\#(epk)}"#), .badSignature)
    }

    private func agreed(
        _ members: String = "", u: [UInt8] = [], v: [UInt8] = [], encryptedKey: [UInt8] = [],
        change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        guard case .p256(let reader) = try DecryptionKeys.key(.ecdhES).encryptionKey.material
        else { return "" }
        let own = try ES256.PrivateKey.generate()
        var epk = VerificationKey.Material.p256(own.publicKey).requiredMembers
        change(&epk)
        let text = String(decoding: JSON.object(epk).canonical(), as: UTF8.self)
        return try message(
            #"{"alg":"ECDH-ES","enc":"A256GCM","epk":\#(text)\#(members)}"#,
            encryptedKey: encryptedKey,
            content: ConcatKDF.derive(
                from: own.agreement(with: reader),
                info: JWE.info(algorithm: "A256GCM", bits: 256, u: u, v: v)))
    }

    /// Both agree here, so that nothing but the form of the key is wrong.
    @Test func `a sender's key that shows its private part, or has another form, is refused`()
        throws
    {
        let keys = try DecryptionKeys.all()
        #expect(throws: Never.self) {
            try JWE.decrypt(agreed { $0["more"] = 1 }, by: keys)
        }
        refuse(try agreed { $0["d"] = $0["x"] }, .badSignature)
        refuse(try agreed { $0["crv"] = "P-384" }, .badSignature)
        refuse(try agreed { $0["kty"] = nil }, .badSignature)
        refuse(
            try agreed { epk in
                let x = epk["x"]?.string.flatMap { Base64URL.decode($0) } ?? []
                epk["x"] = .string(Base64URL.encode([0] + x))
            }, .badSignature)
    }

    @Test func `the parties that a message names are part of its key`() throws {
        let (u, v) = (Array("Alice".utf8), Array("Bob".utf8))
        let named = #","apu":"QWxpY2U","apv":"Qm9i""#
        let keys = try DecryptionKeys.all()
        #expect(throws: Never.self) { try JWE.decrypt(agreed(), by: keys) }
        #expect(throws: Never.self) { try JWE.decrypt(agreed(named, u: u, v: v), by: keys) }
        refuse(try agreed(named), .badSignature)
        refuse(try agreed(u: u, v: v), .badSignature)
        refuse(try agreed(#","apu":1"#), .badSignature)
        refuse(try agreed(#","apv":"*""#), .badSignature)
    }

    @Test func `a message by agreement that brings a key as well is refused`() throws {
        refuse(try agreed(encryptedKey: [0]), .badSignature)
        refuse(try agreed(encryptedKey: [UInt8](repeating: 0, count: 40)), .badSignature)
    }

    // MARK: - Keys

    @Test func `a message is read by the key that it names, or by the only one`() throws {
        let (one, two) = (try DecryptionKey.generate(.ecdhES), try DecryptionKey.generate(.ecdhES))
        let text = try JWE.encrypt([1], to: two.encryptionKey)
        #expect(try JWE.decrypt(text, by: [one, two]).keyID == two.id)
        #expect(throws: TokenRejection.unknownKey) { try JWE.decrypt(text, by: [one]) }
        #expect(throws: TokenRejection.unknownKey) { try JWE.decrypt(text, by: []) }
        var bare = two.encryptionKey.jwk.object ?? [:]
        bare["kid"] = nil
        let nameless = try JWE.encrypt([1], to: EncryptionKey(jwk: .object(bare)))
        #expect(throws: TokenRejection.unknownKey) { try JWE.decrypt(nameless, by: [one, two]) }
        #expect(throws: Never.self) { try JWE.decrypt(nameless, by: [two]) }
        #expect(throws: TokenRejection.badSignature) { try JWE.decrypt(nameless, by: [one]) }
        // The name of a key of another kind.
        let confused = try toRSA(#","kid":"\#(two.id)""#)
        #expect(throws: TokenRejection.unknownKey) { try JWE.decrypt(confused, by: [two]) }
    }

    @Test func `a key that is not to be encrypted to is refused`() throws {
        let rsa = try DecryptionKeys.key(.rsaOAEP256).encryptionKey.jwk.object ?? [:]
        let p256 = try DecryptionKeys.key(.ecdhES).encryptionKey.jwk.object ?? [:]
        func reason(_ members: JSONObject, _ name: String, _ value: JSON?) -> JWKRejection? {
            var members = members
            members[name] = value
            do {
                _ = try EncryptionKey(jwk: .object(members))
                return nil
            } catch { return error }
        }
        #expect(reason(rsa, "use", nil) == nil)
        #expect(reason(rsa, "alg", nil) == nil)
        #expect(reason(rsa, "key_ops", ["wrapKey"]) == nil)
        #expect(reason(p256, "key_ops", ["deriveBits"]) == nil)
        for members in [rsa, p256] {
            #expect(reason(members, "use", "sig") == .notForEncryption)
            #expect(reason(members, "use", 1) == .malformed)
            #expect(reason(members, "key_ops", ["verify"]) == .notForEncryption)
            #expect(reason(members, "alg", "RSA-OAEP") == .wrongAlgorithm)
            #expect(reason(members, "alg", "ES256") == .wrongAlgorithm)
            #expect(reason(members, "d", "AQ") == .holdsSecret)
            #expect(reason(members, "kty", "oct") == .holdsSecret)
            #expect(reason(members, "kid", 1) == .malformed)
        }
        #expect(reason(rsa, "alg", "ECDH-ES") == .wrongAlgorithm)
        #expect(reason(p256, "y", p256["x"]) == .malformed)
        #expect(reason(p256, "crv", "P-384") == .malformed)
        #expect(reason(rsa, "e", "AQ") == .unsupportedKey)
        #expect(reason(rsa, "n", "AQAB") == .unsupportedKey)
        let signing = try SigningKey.generate(.es256).verificationKey.jwk
        #expect(throws: JWKRejection.notForEncryption) { try EncryptionKey(jwk: signing) }
    }
}
