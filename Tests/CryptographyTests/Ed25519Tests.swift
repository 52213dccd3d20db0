import Testing

@testable import Cryptography

@Suite struct `Ed25519 signatures` {
    struct Vector: Sendable {
        let seed, publicKey, message, signature: String
    }

    /// RFC 8032, section 7.1, tests 1 to 3 and SHA(abc).
    static let vectors = [
        Vector(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
                5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
                """),
        Vector(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
                """),
        Vector(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
                18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
                """),
        Vector(
            seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: """
                ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
                2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
                """,
            signature: """
                dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589
                09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704
                """),
    ]

    @Test(arguments: vectors) func `Ed25519 signatures equal those of RFC 8032`(vector: Vector)
        throws
    {
        let key = try Ed25519.PrivateKey(seed: SecretBytes(bytes(vector.seed)))
        let message = bytes(vector.message)
        #expect(key.publicKey.bytes == bytes(vector.publicKey))
        #expect(try key.sign(message) == bytes(vector.signature))
        let publicKey = try Ed25519.PublicKey(bytes(vector.publicKey))
        #expect(publicKey == key.publicKey)
        #expect(publicKey.isValid(bytes(vector.signature), for: message))
    }

    @Test func `Ed25519 signatures are refused with any bit flipped, in signature or message`()
        throws
    {
        let key = try Ed25519.PrivateKey.generate()
        let message = Array("checkpoint".utf8)
        let signature = try key.sign(message)
        #expect(key.publicKey.isValid(signature, for: message))
        for changed in withOneBitFlipped(signature) {
            #expect(!key.publicKey.isValid(changed, for: message))
        }
        for changed in withOneBitFlipped(message) + [[], message + [0]] {
            #expect(!key.publicKey.isValid(signature, for: changed))
        }
        #expect(try !Ed25519.PrivateKey.generate().publicKey.isValid(signature, for: message))
    }

    @Test func `Ed25519 signatures are refused when shortened, lengthened or empty`() throws {
        let key = try Ed25519.PrivateKey.generate()
        let signature = try key.sign([1])
        for count in 0..<Ed25519.signatureLength {
            #expect(!key.publicKey.isValid(Array(signature[..<count]), for: [1]))
        }
        #expect(!key.publicKey.isValid(signature + [0], for: [1]))
    }

    /// RFC 8032 wants S below the group order; without the check S + L would pass as well.
    @Test func `Ed25519 signatures are refused when S is not reduced`() throws {
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        let key = try Ed25519.PrivateKey.generate()
        var signature = try key.sign([1])
        var carry = 0
        for index in 0..<32 {
            let sum = Int(signature[32 + index]) + Int(order[index]) + carry
            signature[32 + index] = UInt8(sum & 0xff)
            carry = sum >> 8
        }
        #expect(carry == 0)
        #expect(!key.publicKey.isValid(signature, for: [1]))
    }

    /// With the neutral point as key, r = 1 and S = 0 would sign every message. All of these points
    /// are multiples of the group order; the last two spell 0 and 1 as the prime and one more.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func `Ed25519 signatures need keys of large order in their one spelling`(point: String) {
        var key = bytes(point)
        for sign: UInt8 in [0, 0x80] {
            key[31] = key[31] & 0x7f | sign
            #expect(throws: Failure(.malformed, "")) { try Ed25519.PublicKey(key) }
        }
    }

    @Test func `Ed25519 signatures need keys of 32 bytes`() {
        for count in [0, 31, 33, 64] {
            #expect(throws: Failure(.malformed, "")) {
                try Ed25519.PrivateKey(seed: .random(count))
            }
            #expect(throws: Failure(.malformed, "")) {
                try Ed25519.PublicKey(Random.bytes(count))
            }
        }
    }
}
