import Testing

@testable import Cryptography

@Suite struct `AES-256-GCM` {
    struct Vector: Sendable {
        let key, nonce, plain, authenticated, sealed: String
    }

    /// Test cases 13 to 16 of McGrew and Viega, which NIST SP 800-38D builds on.
    static let vectors = [
        Vector(
            key: String(repeating: "00", count: 32), nonce: "000000000000000000000000", plain: "",
            authenticated: "", sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            key: String(repeating: "00", count: 32), nonce: "000000000000000000000000",
            plain: "00000000000000000000000000000000", authenticated: "",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18 d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            plain: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
                """, authenticated: "",
            sealed: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad
                b094dac5d93471bdec1a502270e3cc6c
                """),
        Vector(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            plain: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
                """, authenticated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
                76fc6ece0f4e1768cddf8853bb2d551b
                """),
    ]

    @Test(arguments: vectors) func `AES-GCM gives the published vectors`(vector: Vector) throws {
        let key = SecretBytes(bytes(vector.key))
        let nonce = bytes(vector.nonce)
        let authenticated = bytes(vector.authenticated)
        let sealed = nonce + bytes(vector.sealed)
        #expect(
            try AESGCM.seal(
                bytes(vector.plain), key: key, nonce: nonce, authenticating: authenticated)
                == sealed)
        #expect(
            try AESGCM.open(sealed, key: key, authenticating: authenticated) == bytes(vector.plain))
    }

    @Test func `AES-GCM opens what it sealed at every length`() throws {
        let key = SecretBytes.random(32)
        for count in [0, 1, 15, 16, 17, 150, 4096, 100_003] {
            let plain = Random.bytes(count)
            let sealed = try AESGCM.seal(plain, key: key, authenticating: [1, 2])
            #expect(sealed.count == count + AESGCM.overhead)
            #expect(try AESGCM.open(sealed, key: key, authenticating: [1, 2]) == plain)
        }
    }

    @Test func `AES-GCM wraps keys under keys`() throws {
        let key = SecretBytes.random(32)
        for count in [0, 1, 32, 100] {
            let wrapped = SecretBytes.random(count)
            let sealed = try AESGCM.seal(wrapped, key: key, authenticating: [1])
            #expect(try AESGCM.open(sealed, key: key, authenticating: [1]) == wrapped.exposedCopy())
            for changed in withOneBitFlipped(sealed) {
                #expect(throws: Failure(.refused, "")) {
                    try AESGCM.open(changed, key: key, authenticating: [1])
                }
            }
            #expect(throws: Failure(.malformed, "")) {
                try AESGCM.open(Array(sealed.prefix(27)), key: key, authenticating: [1])
            }
        }
    }

    @Test func `AES-GCM draws another nonce each time`() throws {
        let key = SecretBytes.random(32)
        let sealed = try (0..<1000).map { _ in try AESGCM.seal([1], key: key) }
        #expect(Set(sealed.map { $0.prefix(AESGCM.nonceLength) }).count == 1000)
    }

    @Test func `AES-GCM refuses every flipped bit of nonce, ciphertext and tag`() throws {
        let key = SecretBytes.random(32)
        let sealed = try AESGCM.seal(Array("a short secret".utf8), key: key, authenticating: [7])
        for changed in withOneBitFlipped(sealed) {
            #expect(throws: Failure(.refused, "")) {
                try AESGCM.open(changed, key: key, authenticating: [7])
            }
        }
    }

    @Test func `AES-GCM refuses other authenticated bytes and other keys`() throws {
        let key = SecretBytes.random(32)
        let authenticated = Array("subject 42".utf8)
        let sealed = try AESGCM.seal([1, 2, 3], key: key, authenticating: authenticated)
        for other in withOneBitFlipped(authenticated) + [[], authenticated + [0]] {
            #expect(throws: Failure(.refused, "")) {
                try AESGCM.open(sealed, key: key, authenticating: other)
            }
        }
        for other in withOneBitFlipped(key.exposedCopy()) {
            #expect(throws: Failure(.refused, "")) {
                try AESGCM.open(sealed, key: SecretBytes(other), authenticating: authenticated)
            }
        }
    }

    @Test func `AES-GCM refuses every truncated and every lengthened input`() throws {
        let key = SecretBytes.random(32)
        let sealed = try AESGCM.seal(Array("a short secret".utf8), key: key)
        for count in sealed.indices {
            let code: Failure.Code = count < AESGCM.overhead ? .malformed : .refused
            #expect(throws: Failure(code, "")) {
                try AESGCM.open(Array(sealed[..<count]), key: key)
            }
        }
        #expect(throws: Failure(.refused, "")) { try AESGCM.open(sealed + [0], key: key) }
    }

    @Test(arguments: [0, 16, 31, 33, 64]) func `AES-GCM takes keys of 32 bytes only`(count: Int)
        throws
    {
        let key = SecretBytes.random(count)
        #expect(throws: Failure(.malformed, "")) { try AESGCM.seal([1], key: key) }
        let sealed = try AESGCM.seal([1], key: .random(32))
        #expect(throws: Failure(.malformed, "")) { try AESGCM.open(sealed, key: key) }
    }
}
