import Cryptography
import JSON
import Testing
import Values

@testable import JOSE

/// Keys that are made once for all tests.
enum DecryptionKeys {
    private static let made = Result {
        try (rsa: DecryptionKey.generate(.rsaOAEP256), p256: DecryptionKey.generate(.ecdhES))
    }

    static func key(_ algorithm: JWE.KeyManagement) throws -> DecryptionKey {
        switch algorithm {
        case .rsaOAEP256: try made.get().rsa
        case .ecdhES: try made.get().p256
        }
    }

    static func all() throws -> [DecryptionKey] { try JWE.KeyManagement.allCases.map(key) }
}

@Suite struct `Messages that are encrypted to a public key` {
    @Test(arguments: JWE.KeyManagement.allCases, [0, 1, 15, 16, 17, 1000, JWE.longestPlaintext])
    func `what is encrypted is decrypted`(algorithm: JWE.KeyManagement, count: Int) throws {
        let key = try DecryptionKeys.key(algorithm)
        let plaintext = Random.bytes(count)
        let text = try JWE.encrypt(plaintext, to: key.encryptionKey, type: "t")
        #expect(text.utf8.count <= CompactJWE.longestText)
        let opened = try JWE.decrypt(text, by: DecryptionKeys.all())
        #expect(opened.plaintext == plaintext)
        #expect(opened.algorithm == algorithm)
        #expect(opened.keyID == key.id)
        #expect(opened.type == "t")
        #expect(opened.contentType == nil)
        // Nothing is made twice, but for ciphertexts so short that they may be the same by chance.
        let again = try JWE.encrypt(plaintext, to: key.encryptionKey, type: "t")
        let long = parts(again).suffix(4).filter { $0.utf8.count >= 16 }
        #expect(long.count >= (algorithm == .rsaOAEP256 ? 3 : 2))
        #expect(Set(parts(text)).isDisjoint(with: long))
    }

    @Test(arguments: JWE.KeyManagement.allCases)
    func `a message's header says how it is read, and no more`(algorithm: JWE.KeyManagement) throws
    {
        let key = try DecryptionKeys.key(algorithm)
        let text = try JWE.encrypt([1], to: key.encryptionKey)
        let header = try JSON.parse(#require(Base64URL.decode(parts(text)[0])))
        #expect(header["alg"]?.string == algorithm.rawValue)
        #expect(header["enc"] == "A256GCM")
        #expect(header["kid"]?.string == key.id)
        switch algorithm {
        case .rsaOAEP256:
            #expect(header.object?.count == 3)
            #expect(Base64URL.decode(parts(text)[1])?.count == 256)
        case .ecdhES:
            #expect(header.object?.count == 4)
            #expect(header["epk"]?.object?.map(\.key) == ["crv", "kty", "x", "y"])
            #expect(parts(text)[1].isEmpty)
        }
    }

    @Test(arguments: JWE.KeyManagement.allCases)
    func `a signed token goes into an encrypted one and comes out`(
        algorithm: JWE.KeyManagement
    ) throws {
        let key = try DecryptionKeys.key(algorithm)
        let signed = try JWS.sign(Array("{}".utf8), by: Keys.es256(), type: "JWT")
        let text = try JWE.encrypt(token: signed, to: key.encryptionKey)
        #expect(try JWE.decryptToken(text, by: [key]) == signed)
        #expect(try JWE.decrypt(text, by: [key]).contentType == "JWT")
        #expect(try verify(JWE.decryptToken(text, by: [key])).payload == Array("{}".utf8))
    }

    @Test(arguments: [nil, "", "json", "application/json", "at+jwt"])
    func `a message that does not say that a token is inside gives none`(type: String?) throws {
        let key = try DecryptionKeys.key(.ecdhES)
        let signed = try JWS.sign(Array("{}".utf8), by: Keys.es256(), type: "JWT")
        let text = try JWE.encrypt(
            Array(signed.utf8), to: key.encryptionKey, contentType: type, type: "JWT")
        #expect(throws: TokenRejection.wrongType) { try JWE.decryptToken(text, by: [key]) }
    }

    @Test(arguments: JWE.KeyManagement.allCases)
    func `a key is kept as PKCS 8 and published as a JWK`(algorithm: JWE.KeyManagement) throws {
        let key = try DecryptionKeys.key(algorithm)
        let kept = try DecryptionKey(pkcs8: key.pkcs8(), algorithm: algorithm)
        #expect(kept.id == key.id)
        let published = try EncryptionKey(jwk: key.encryptionKey.jwk)
        #expect(published == key.encryptionKey)
        #expect(published.jwk["use"] == "enc")
        #expect(published.jwk["alg"]?.string == algorithm.rawValue)
        let text = try JWE.encrypt([7], to: published)
        #expect(try JWE.decrypt(text, by: [kept]).plaintext == [7])
    }

    @Test func `the first usable key of a set is taken`() throws {
        let keys = try DecryptionKeys.all().map(\.encryptionKey)
        let signing = try Keys.es256().verificationKey.jwk
        let set: JSON = ["keys": .array([signing, "x", ["kty": "oct"]] + keys.map(\.jwk))]
        #expect(EncryptionKey.first(in: set) == keys[0])
        #expect(EncryptionKey.first(in: set, for: [.ecdhES]) == keys[1])
        #expect(EncryptionKey.first(in: ["keys": [signing]]) == nil)
        #expect(EncryptionKey.first(in: "x") == nil)
    }

    // MARK: - Vectors

    /// A private key on P-256 as PKCS #8.
    static func pkcs8(d: String, x: String, y: String) throws -> SecretBytes {
        let (d, x, y) = (
            try #require(Base64URL.decode(d)), try #require(Base64URL.decode(x)),
            try #require(Base64URL.decode(y))
        )
        let start: [UInt8] = [
            0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce,
            0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04,
            0x6d, 0x30, 0x6b, 0x02, 0x01, 0x01, 0x04, 0x20,
        ]
        return SecretBytes(start + d + [0xa1, 0x44, 0x03, 0x42, 0x00, 0x04] + x + y)
    }

    /// RFC 7518 appendix C, from both sides.
    @Test func `two keys agree as in the example of RFC 7518`() throws {
        let alice = try ES256.PrivateKey(
            pkcs8: Self.pkcs8(
                d: "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo",
                x: "gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0",
                y: "SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps"))
        let bob = try ES256.PrivateKey(
            pkcs8: Self.pkcs8(
                d: "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw",
                x: "weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ",
                y: "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck"))
        let agreed: [UInt8] = [
            158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49,
            110, 163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
        ]
        let info = JWE.info(
            algorithm: "A128GCM", bits: 128, u: Array("Alice".utf8), v: Array("Bob".utf8))
        #expect(
            info == [
                0, 0, 0, 7, 65, 49, 50, 56, 71, 67, 77, 0, 0, 0, 5, 65, 108, 105, 99, 101, 0, 0,
                0, 3, 66, 111, 98, 0, 0, 0, 128,
            ])
        for (own, other) in [(alice, bob), (bob, alice)] {
            let agreement = try own.agreement(with: other.publicKey)
            #expect(agreement.exposedCopy() == agreed)
            let key = ConcatKDF.derive(from: agreement, info: info, length: 16)
            #expect(Base64URL.encode(key.exposedCopy()) == "VqqN6vgjbSBcIijNcacQGg")
        }
    }

    /// RFC 7516 appendix A.1: its key is wrapped with SHA-1, which is refused; the rest is ours.
    @Test func `the example of RFC 7516 is opened under its content key alone`() throws {
        let text =
            "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.AAAA.48V1_ALb6US04U3b."
            + "5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX_EFShS8iB7j6jiSdiwkIr3ajwQzaBtQD_A"
            + ".XFBoMYUZodetZdvTiFvSkQ"
        let key: [UInt8] = [
            177, 161, 244, 128, 84, 143, 225, 115, 63, 180, 3, 255, 107, 154, 212, 246, 138, 7,
            110, 91, 112, 46, 34, 105, 47, 130, 203, 46, 122, 234, 64, 252,
        ]
        let plain = try EncryptedMessage(text, encryptions: [.a256GCM])
            .open(SecretBytes(key))
        #expect(
            String(decoding: plain, as: UTF8.self)
                == "The true sign of intelligence is not knowledge but imagination.")
        #expect(throws: TokenRejection.algorithmNotAllowed) {
            try JWE.decrypt(text, by: DecryptionKeys.all())
        }
    }
}
