import Testing

@testable import Cryptography

@Suite struct `HKDF-SHA-256` {
    struct Vector: Sendable {
        let secret, salt, info, pseudorandomKey, derived: String
    }

    /// RFC 5869, appendix A, test cases 1 to 3.
    static let vectors = [
        Vector(
            secret: String(repeating: "0b", count: 22), salt: "000102030405060708090a0b0c",
            info: "f0f1f2f3f4f5f6f7f8f9",
            pseudorandomKey: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            derived: """
                3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf
                34007208d5b887185865
                """),
        Vector(
            secret: hex(Array(0x00...0x4f)), salt: hex(Array(0x60...0xaf)),
            info: hex(Array(0xb0...0xff)),
            pseudorandomKey: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            derived: """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
                59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
                cc30c58179ec3e87c14c01d5c1f3434f1d87
                """),
        Vector(
            secret: String(repeating: "0b", count: 22), salt: "", info: "",
            pseudorandomKey: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            derived: """
                8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d
                9d201395faa4b61a96c8
                """),
    ]

    @Test(arguments: vectors) func `HKDF gives the keys of RFC 5869`(vector: Vector) {
        let secret = SecretBytes(bytes(vector.secret))
        let salt = bytes(vector.salt)
        let derived = bytes(vector.derived)
        #expect(
            HKDF.extract(from: secret, salt: salt).exposedCopy() == bytes(vector.pseudorandomKey))
        #expect(
            HKDF.derive(
                from: secret, salt: salt, info: bytes(vector.info), length: derived.count
            ).exposedCopy() == derived)
    }

    @Test func `HKDF gives a prefix when asked for less, and up to 255 blocks`() {
        let secret = SecretBytes.random(32)
        let longest = HKDF.derive(from: secret, info: [1], length: HKDF.maximumLength).exposedCopy()
        #expect(longest.count == 8160)
        for length in [1, 31, 32, 33, 64, 8159] {
            let derived = HKDF.derive(from: secret, info: [1], length: length)
            #expect(derived.exposedCopy() == Array(longest.prefix(length)))
        }
    }

    @Test func `HKDF gives another key for another purpose, salt or secret`() {
        let secret = SecretBytes.random(32)
        let key = HKDF.derive(from: secret, salt: [1], info: [2])
        #expect(key.count == 32)
        #expect(key == HKDF.derive(from: secret, salt: [1], info: [2]))
        #expect(key != HKDF.derive(from: secret, salt: [1], info: [3]))
        #expect(key != HKDF.derive(from: secret, salt: [2], info: [2]))
        #expect(key != HKDF.derive(from: .random(32), salt: [1], info: [2]))
    }
}
