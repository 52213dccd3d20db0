import Testing

@testable import Cryptography

@Suite struct `ES256 signatures` {
    static let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    static let zero = [UInt8](repeating: 0, count: 32)
    static let one = [UInt8](repeating: 0, count: 31) + [1]

    @Test func `ES256 signatures verify the example of RFC 7515`() throws {
        let key = try ES256.PublicKey(x: RFC7515.x, y: RFC7515.y)
        #expect(key.isValid(RFC7515.signatureES256, for: RFC7515.messageES256))
        #expect(!key.isValid(RFC7515.signatureES256, for: RFC7515.messageRS256))
    }

    @Test func `ES256 signatures are r and s of 32 bytes each, also when they begin with zeros`()
        throws
    {
        let key = try ES256.PrivateKey.generate()
        for number in 0..<600 {
            let message = Array("message \(number)".utf8)
            let signature = try key.sign(message)
            #expect(signature.count == ES256.signatureLength)
            #expect(key.publicKey.isValid(signature, for: message))
            let der = try ECDSASignature(joined: signature).der()
            #expect(key.publicKey.isValid(der: der, for: message))
        }
    }

    @Test func `ES256 signatures are refused with any bit flipped, in signature or message`() throws
    {
        let key = try ES256.PrivateKey.generate()
        let message = Array("token".utf8)
        let signature = try key.sign(message)
        for changed in withOneBitFlipped(signature) {
            #expect(!key.publicKey.isValid(changed, for: message))
        }
        for changed in withOneBitFlipped(message) + [[], message + [0]] {
            #expect(!key.publicKey.isValid(signature, for: changed))
        }
        #expect(try !ES256.PrivateKey.generate().publicKey.isValid(signature, for: message))
    }

    @Test func `ES256 signatures are refused when r or s is zero or not below the order`() throws {
        let key = try ES256.PrivateKey.generate()
        let signature = try key.sign([1])
        let r = Array(signature.prefix(32))
        let s = Array(signature.suffix(32))
        let outside = [
            Self.zero, Self.order, Self.order.dropLast() + [0x52],
            [UInt8](repeating: 0xff, count: 32),
        ]
        for number in outside {
            #expect(throws: Failure(.malformed, "")) { try ECDSASignature(joined: number + s) }
            #expect(throws: Failure(.malformed, "")) { try ECDSASignature(joined: r + number) }
            #expect(!key.publicKey.isValid(number + s, for: [1]))
            #expect(!key.publicKey.isValid(r + number, for: [1]))
            #expect(!key.publicKey.isValid(number + number, for: [1]))
        }
        #expect(throws: Never.self) {
            try ECDSASignature(joined: Self.one + Self.order.dropLast() + [0x50])
        }
    }

    /// The two multiples that verification adds are then the same point, or opposite ones: its sum is a
    /// point twice, or none at all.
    @Test func `ES256 signatures verify where a point is added to itself or to its opposite`()
        throws
    {
        let generator = try ES256.PublicKey(
            x: bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
            y: bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"))
        let opposite = Array(Self.order.dropLast()) + [0x50]
        let signature = try ECDSASignature(joined: Self.one + Self.one)
        for digest: [UInt8] in [Self.one, opposite, Self.zero] {
            #expect(!generator.key.isValid(signature, digest: digest))
        }
        // The x of twice the generator, as r, s and digest: G and G make it, and private key 1 signs so.
        let double = bytes("7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978")
        let good = try ECDSASignature(joined: double + double)
        #expect(generator.key.isValid(good, digest: double))
    }

    @Test
    func `ES256 signatures are refused in any other length, and in DER where r and s are wanted`()
        throws
    {
        let key = try ES256.PrivateKey.generate()
        let signature = try key.sign([1])
        for count in 0..<ES256.signatureLength {
            #expect(!key.publicKey.isValid(Array(signature[..<count]), for: [1]))
        }
        #expect(!key.publicKey.isValid(signature + [0], for: [1]))
        #expect(!key.publicKey.isValid([UInt8](repeating: 0x30, count: 100_000), for: [1]))
        let der = try ECDSASignature(joined: signature).der()
        #expect(!key.publicKey.isValid(der, for: [1]))
    }

    @Test
    func `ES256 signatures are refused in DER when changed, cut, lengthened or encoded otherwise`()
        throws
    {
        let key = try ES256.PrivateKey.generate()
        // Short enough that what is added below does not make it too long for any signature.
        var der = [UInt8](repeating: 0, count: 72)
        while der.count > 70 { der = try ECDSASignature(joined: key.sign([1])).der() }
        #expect(key.publicKey.isValid(der: der, for: [1]))
        for changed in withOneBitFlipped(der) {
            #expect(!key.publicKey.isValid(der: changed, for: [1]))
        }
        for count in der.indices {
            #expect(!key.publicKey.isValid(der: Array(der[..<count]), for: [1]))
        }
        #expect(!key.publicKey.isValid(der: der + [0], for: [1]))
        // The long form of the length says the same, but is not DER.
        #expect(!key.publicKey.isValid(der: [0x30, 0x81] + der.dropFirst(), for: [1]))
        // Negative r.
        #expect(!key.publicKey.isValid(der: bytes("3006 0201ff 020101"), for: [1]))
        #expect(!key.publicKey.isValid(der: [UInt8](repeating: 0x30, count: 100_000), for: [1]))
    }

    @Suite struct `Their keys` {
        @Test func `an ES256 key survives PKCS 8, SubjectPublicKeyInfo and coordinates`() throws {
            let privateKey = try ES256.PrivateKey.generate()
            let publicKey = privateKey.publicKey
            let again = try ES256.PrivateKey(pkcs8: privateKey.pkcs8())
            #expect(again.publicKey == publicKey)
            #expect(try publicKey.isValid(again.sign([1]), for: [1]))
            #expect(try ES256.PublicKey(spki: publicKey.spki) == publicKey)
            #expect(try ES256.PublicKey(x: publicKey.x, y: publicKey.y) == publicKey)
            let key = try VerifyingKey(curve: .p256, x: publicKey.x, y: publicKey.y).key()
            #expect(try key.spki() == publicKey.spki)
        }

        @Test func `an ES256 key must be a point on the curve`() throws {
            let key = try ES256.PrivateKey.generate().publicKey
            var off = key.y
            off[31] ^= 1
            let field = bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
            for (x, y) in [
                (key.x, off), (zero, zero), (field, key.y), (key.x, field), (one, one),
            ] {
                #expect(throws: Failure(.malformed, "")) { try ES256.PublicKey(x: x, y: y) }
            }
            #expect(throws: Failure(.malformed, "")) {
                try ES256.PublicKey(x: Array(key.x.dropLast()), y: key.y)
            }
            #expect(throws: Failure(.malformed, "")) {
                try ES256.PublicKey(x: key.x, y: [0] + key.y)
            }
        }

        @Test func `an ES256 key is refused when cut, lengthened or of another kind`() throws {
            let key = try ES256.PrivateKey.generate()
            let pkcs8 = try key.pkcs8().exposedCopy()
            let spki = key.publicKey.spki
            for count in pkcs8.indices {
                #expect(throws: Failure(.malformed, "")) {
                    try ES256.PrivateKey(pkcs8: SecretBytes(Array(pkcs8[..<count])))
                }
            }
            for count in spki.indices {
                #expect(throws: Failure(.malformed, "")) {
                    try ES256.PublicKey(spki: Array(spki[..<count]))
                }
            }
            let other = try Ed25519.PrivateKey.generate()
            for encoded in try [pkcs8 + [0], other.pkcs8().exposedCopy()] {
                #expect(throws: Failure(.malformed, "")) {
                    try ES256.PrivateKey(pkcs8: SecretBytes(encoded))
                }
            }
            for encoded in [spki + [0], other.publicKey.spki] {
                #expect(throws: Failure(.malformed, "")) { try ES256.PublicKey(spki: encoded) }
            }
            #expect(throws: Failure(.tooLarge, "")) {
                try ES256.PrivateKey(pkcs8: .random(10_000))
            }
        }

        /// Whatever a flipped bit makes of an encoded private key, the process lives, and what is
        /// accepted signs for the public part that it shows.
        @Test func `an ES256 key with any flipped bit of its encoding does no harm`() throws {
            let pkcs8 = try ES256.PrivateKey.generate().pkcs8().exposedCopy()
            for changed in withOneBitFlipped(pkcs8) {
                guard let key = try? ES256.PrivateKey(pkcs8: SecretBytes(changed)) else { continue }
                #expect(try key.publicKey.isValid(key.sign([1]), for: [1]))
            }
        }

        private var zero: [UInt8] { [UInt8](repeating: 0, count: 32) }
        private var one: [UInt8] { [UInt8](repeating: 0, count: 31) + [1] }
    }
}
