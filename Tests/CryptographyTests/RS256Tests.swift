import Testing

@testable import Cryptography

@Suite struct `RS256 signatures` {
    static let key = try? RS256.PrivateKey.generate()

    @Test func `RS256 signatures verify the example of RFC 7515`() throws {
        let key = try RS256.PublicKey(modulus: RFC7515.modulus, exponent: RFC7515.exponent)
        #expect(key.isValid(RFC7515.signatureRS256, for: RFC7515.messageRS256))
        #expect(!key.isValid(RFC7515.signatureRS256, for: RFC7515.messageES256))
        for changed in withOneBitFlipped(RFC7515.signatureRS256) {
            #expect(!key.isValid(changed, for: RFC7515.messageRS256))
        }
    }

    @Test
    func `RS256 signatures are refused when cut, lengthened, or made for another message or key`()
        throws
    {
        let key = try #require(Self.key)
        let signature = try key.sign([1])
        #expect(signature.count == 256)
        #expect(key.publicKey.isValid(signature, for: [1]))
        for count in signature.indices {
            #expect(!key.publicKey.isValid(Array(signature[..<count]), for: [1]))
        }
        #expect(!key.publicKey.isValid(signature + [0], for: [1]))
        #expect(!key.publicKey.isValid([0] + signature, for: [1]))
        #expect(!key.publicKey.isValid(signature, for: [1, 0]))
        #expect(!key.publicKey.isValid([UInt8](repeating: 0, count: 256), for: [1]))
        #expect(!key.publicKey.isValid([UInt8](repeating: 0xff, count: 256), for: [1]))
        let other = try RS256.PublicKey(modulus: RFC7515.modulus, exponent: RFC7515.exponent)
        #expect(!other.isValid(signature, for: [1]))
    }

    @Suite struct `Their keys` {
        @Test func `an RS256 key survives PKCS 8, SubjectPublicKeyInfo and modulus with exponent`()
            throws
        {
            let key = try #require(key)
            let again = try RS256.PrivateKey(pkcs8: key.pkcs8())
            #expect(again.publicKey == key.publicKey)
            #expect(try again.sign([1]) == key.sign([1]))
            let publicKey = key.publicKey
            #expect(publicKey.modulus.count == 256)
            #expect(publicKey.exponent == [1, 0, 1])
            #expect(try RS256.PublicKey(spki: publicKey.spki()) == publicKey)
            #expect(
                try RS256.PublicKey(modulus: publicKey.modulus, exponent: publicKey.exponent)
                    == publicKey)
        }

        @Test func `an RS256 key has 2048 to 8192 bits, an odd modulus and a sound exponent`()
            throws
        {
            func modulus(bits: Int) -> [UInt8] {
                var number = [UInt8](repeating: 0xff, count: (bits + 7) / 8)
                number[0] = 0xff >> UInt8(number.count * 8 - bits)
                return number
            }
            for bits in [2048, 2049, 3072, 8192] {
                #expect(throws: Never.self) {
                    try RS256.PublicKey(modulus: modulus(bits: bits), exponent: [1, 0, 1])
                }
            }
            for bits in [8, 1024, 2047, 8193, 65536] {
                #expect(throws: Failure(.malformed, "")) {
                    try RS256.PublicKey(modulus: modulus(bits: bits), exponent: [1, 0, 1])
                }
            }
            var even = modulus(bits: 2048)
            even[255] = 0xfe
            for modulus in [[], even, [0] + modulus(bits: 2048)] {
                #expect(throws: Failure(.malformed, "")) {
                    try RS256.PublicKey(modulus: modulus, exponent: [1, 0, 1])
                }
            }
            for exponent: [UInt8] in [[], [0], [1], [2], [0, 1, 0, 1], [1, 0, 0, 0, 1]] {
                #expect(throws: Failure(.malformed, "")) {
                    try RS256.PublicKey(modulus: modulus(bits: 2048), exponent: exponent)
                }
            }
            #expect(throws: Failure(.malformed, "")) { try RS256.PrivateKey.generate(bits: 1024) }
        }

        @Test func `an RS256 key is refused when cut, lengthened or of another kind`() throws {
            let key = try #require(key)
            let pkcs8 = try key.pkcs8().exposedCopy()
            let spki = try key.publicKey.spki()
            for count in pkcs8.indices {
                #expect(throws: Failure(.malformed, "")) {
                    try RS256.PrivateKey(pkcs8: SecretBytes(Array(pkcs8[..<count])))
                }
            }
            for count in spki.indices {
                #expect(throws: Failure(.malformed, "")) {
                    try RS256.PublicKey(spki: Array(spki[..<count]))
                }
            }
            let other = try ES256.PrivateKey.generate()
            for encoded in try [pkcs8 + [0], other.pkcs8().exposedCopy()] {
                #expect(throws: Failure(.malformed, "")) {
                    try RS256.PrivateKey(pkcs8: SecretBytes(encoded))
                }
            }
            for encoded in [spki + [0], other.publicKey.spki] {
                #expect(throws: Failure(.malformed, "")) { try RS256.PublicKey(spki: encoded) }
            }
        }

        /// A private part that does not fit must not sign: one wrong signature made with the
        /// remainder theorem gives the primes away.
        @Test func `an RS256 private key with any byte changed is refused or still signs right`()
            throws
        {
            let key = try #require(key)
            let pkcs8 = try key.pkcs8().exposedCopy()
            for index in stride(from: 0, to: pkcs8.count, by: 5) {
                var changed = pkcs8
                changed[index] ^= 0x10
                guard let other = try? RS256.PrivateKey(pkcs8: SecretBytes(changed)) else {
                    continue
                }
                #expect(try other.publicKey.isValid(other.sign([1]), for: [1]))
            }
        }

        private var key: RS256.PrivateKey? { `RS256 signatures`.key }
    }
}
