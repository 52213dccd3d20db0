import Testing

@testable import Cryptography

/// Keys that are met often have a table, which checks with code of its own.
@Suite(.serialized) struct `Tables of P-256 keys` {
    @Test func `take the example of RFC 7515 and no other message`() throws {
        let key = try ES256.PublicKey(x: RFC7515.x, y: RFC7515.y)
        key.key.makeTable()
        #expect(key.key.hasTable)
        #expect(key.isValid(RFC7515.signatureES256, for: RFC7515.messageES256))
        #expect(!key.isValid(RFC7515.signatureES256, for: RFC7515.messageRS256))
    }

    @Test func `take what OpenSSL takes, and nothing with a bit flipped`() throws {
        let pair = try ES256.PrivateKey.generate()
        let (by, plain) = try (tabled(pair.publicKey), again(pair.publicKey))
        let stranger = try tabled(ES256.PrivateKey.generate().publicKey)
        for number in 0..<600 {
            let message = Array("message \(number)".utf8)
            let signature = try pair.sign(message)
            #expect(by.isValid(signature, for: message))
            #expect(plain.isValid(signature, for: message))
            #expect(!stranger.isValid(signature, for: message))
        }
        let signature = try pair.sign([1])
        for changed in withOneBitFlipped(signature) { #expect(!by.isValid(changed, for: [1])) }
        for message: [UInt8] in [[], [0], [1, 0]] { #expect(!by.isValid(signature, for: message)) }
    }

    @Test func `refuse r or s that is zero or not below the order`() throws {
        let pair = try ES256.PrivateKey.generate()
        let key = try tabled(pair.publicKey)
        let signature = try pair.sign([1])
        let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
        let (zero, order) = (`ES256 signatures`.zero, `ES256 signatures`.order)
        for number in [zero, order, order.dropLast() + [0x52], [UInt8](repeating: 0xff, count: 32)]
        {
            #expect(!key.isValid(number + s, for: [1]))
            #expect(!key.isValid(r + number, for: [1]))
        }
    }

    /// The sum is then a point twice, or none at all.
    @Test func `refuse what adds a point to itself or to its opposite`() throws {
        let generator = try tabled(
            ES256.PublicKey(
                x: bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
                y: bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")))
        let one = `ES256 signatures`.one
        let opposite = Array(`ES256 signatures`.order.dropLast()) + [0x50]
        let signature = try ECDSASignature(joined: one + one)
        for digest: [UInt8] in [one, opposite, `ES256 signatures`.zero] {
            #expect(!generator.key.isValid(signature, digest: digest))
        }
        // The x of twice the generator, as r, s and digest: G and G make it, and private key 1 signs so.
        let double = bytes("7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978")
        let good = try ECDSASignature(joined: double + double)
        #expect(generator.key.isValid(good, digest: double))
        #expect(try again(generator).key.isValid(good, digest: double))
    }

    @Test func `come with the thousandth good signature, and with no bad one`() async throws {
        let pair = try ES256.PrivateKey.generate()
        let key = try again(pair.publicKey)
        let signature = try pair.sign([1])
        for _ in 0..<P256Key.often { #expect(!key.isValid(signature, for: [2])) }
        for _ in 1..<P256Key.often { #expect(key.isValid(signature, for: [1])) }
        try await Task.sleep(for: .milliseconds(100))
        #expect(!key.key.hasTable)
        #expect(key.isValid(signature, for: [1]))
        while !key.key.hasTable { try await Task.sleep(for: .milliseconds(5)) }
        #expect(key.isValid(signature, for: [1]))
        #expect(!key.isValid(signature, for: [2]))
    }

    @Test func `are so many and no more, and make room when their keys go`() throws {
        let pair = try ES256.PrivateKey.generate()
        let message: [UInt8] = [1]
        let signature = try pair.sign(message)
        for _ in 0..<2 {
            let keys = try (0...P256Table.most).map { _ in try again(pair.publicKey) }
            for key in keys { key.key.makeTable() }
            #expect(keys.count { $0.key.hasTable } == P256Table.most)
            #expect(keys.allSatisfy { $0.isValid(signature, for: message) })
        }
    }

    private func again(_ key: ES256.PublicKey) throws -> ES256.PublicKey {
        try ES256.PublicKey(x: key.x, y: key.y)
    }

    private func tabled(_ key: ES256.PublicKey) throws -> ES256.PublicKey {
        let made = try again(key)
        made.key.makeTable()
        #expect(made.key.hasTable)
        return made
    }
}
