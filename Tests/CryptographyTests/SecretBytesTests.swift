import Testing

@testable import Cryptography

@Suite struct `Secret bytes` {
    @Test func `secret bytes are never printed`() {
        let secret = SecretBytes(Array("hunter2".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        struct Holder { let secret: SecretBytes }
        for text in [
            "\(secret)", String(reflecting: secret), dumped, "\(Holder(secret: secret))",
            "\([secret])",
        ] {
            #expect(text.contains("7 secret bytes, redacted"))
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("104"))
        }
    }

    @Test func `secret bytes are equal when all bytes are`() {
        let value = Random.bytes(40)
        #expect(SecretBytes(value) == SecretBytes(value))
        for changed in withOneBitFlipped(value) {
            #expect(SecretBytes(value) != SecretBytes(changed))
        }
        #expect(SecretBytes(value) != SecretBytes(Array(value.dropLast())))
        #expect(SecretBytes([]) == SecretBytes([]))
        #expect(SecretBytes(value).exposedCopy() == value)
    }

    @Test func `secret bytes are overwritten when they are wiped`() {
        var value = Random.bytes(32)
        value.withUnsafeMutableBytes { wipe($0) }
        #expect(value == [UInt8](repeating: 0, count: 32))
    }
}

@Suite struct `Comparing in constant time` {
    @Test func `comparing in constant time tells equal from unequal arrays`() {
        let value = Random.bytes(33)
        #expect(constantTimeEqual(value, value))
        #expect(constantTimeEqual([], []))
        #expect(!constantTimeEqual([], [0]))
        #expect(!constantTimeEqual(value, Array(value.dropLast())))
        #expect(!constantTimeEqual(value, value + [0]))
        for changed in withOneBitFlipped(value) { #expect(!constantTimeEqual(value, changed)) }
    }
}

@Suite struct `Random bytes` {
    @Test func `random bytes have the requested length and do not repeat`() {
        for count in [0, 1, 12, 32, 1000] { #expect(Random.bytes(count).count == count) }
        #expect(Set((0..<1000).map { _ in Random.bytes(16) }).count == 1000)
        var generator = SystemRandom()
        #expect(Set((0..<1000).map { _ in generator.next() }).count == 1000)
        #expect(
            (0..<100).allSatisfy { _ in (3..<7).contains(Int.random(in: 3..<7, using: &generator)) }
        )
    }

    /// Not a test of quality, but a buffer left unfilled or filled twice the same would show.
    @Test func `random bytes have about as many ones as zeros`() {
        let ones = Random.bytes(100_000).reduce(0) { $0 + $1.nonzeroBitCount }
        #expect((395_000...405_000).contains(ones))
    }
}

@Suite struct `A failure` {
    @Test func `a failure shows its code and keeps the reason for the debugger`() throws {
        let key = SecretBytes.random(32)
        let sealed = try AESGCM.seal([1, 2, 3], key: key)
        let failure = #expect(throws: Failure.self) {
            try AESGCM.open(sealed, key: .random(32))
        }
        #expect(failure?.description == "cryptography: refused")
        #expect(failure?.debugDescription.contains("EVP_CipherFinal_ex") == true)
        #expect(failure == Failure(.refused, "another reason"))
        #expect(failure != Failure(.malformed, "EVP_CipherFinal_ex"))
    }
}
