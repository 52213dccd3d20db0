import Testing

@testable import Cryptography

@Suite struct `scrypt` {
    /// Weak on purpose: these tests are about reading and refusing, not about the computation.
    static let weak = try? Scrypt.Parameters(cost: 16, blockSize: 1, parallelization: 1)

    /// RFC 7914, section 12, without the one that needs a gibibyte.
    @Test(arguments: [
        (
            "", "", 16, 1, 1,
            """
            77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442
            fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
            """
        ),
        (
            "password", "NaCl", 1024, 8, 16,
            """
            fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
            2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
            """
        ),
        (
            "pleaseletmein", "SodiumChloride", 16384, 8, 1,
            """
            7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
            d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
            """
        ),
    ])
    func `scrypt gives the keys of RFC 7914`(
        passphrase: String, salt: String, cost: Int, blockSize: Int, parallelization: Int,
        key: String
    ) throws {
        let derived = try Scrypt.derive(
            SecretBytes(Array(passphrase.utf8)), salt: Array(salt.utf8),
            parameters: Scrypt.Parameters(
                cost: cost, blockSize: blockSize, parallelization: parallelization), length: 64)
        #expect(derived.exposedCopy() == bytes(key))
    }

    @Test func `scrypt verifies the passphrase that it hashed, and no other`() throws {
        let weak = try #require(Self.weak)
        let passphrase = Array("correct horse battery staple".utf8)
        let text = try Scrypt.hash(SecretBytes(passphrase), parameters: weak)
        #expect(text.hasPrefix("scrypt$16$1$1$"))
        #expect(try Scrypt.verify(SecretBytes(passphrase), against: text))
        for other in withOneBitFlipped(passphrase) + [[], passphrase + [1]] {
            #expect(try !Scrypt.verify(SecretBytes(other), against: text))
        }
        #expect(try Scrypt.hash(SecretBytes(passphrase), parameters: weak) != text)
    }

    @Test
    func `scrypt takes as many lanes as fit the time, at OWASP's least work or more`()
        throws
    {
        for (lane, lanes) in [(0, 8), (10, 8), (31, 8), (40, 6), (83, 3), (84, 3), (5_000, 3)] {
            let fitting = Scrypt.Parameters.fitting(
                .milliseconds(250), lane: .milliseconds(lane))
            #expect(fitting.parallelization == lanes, "\(lane)")
            #expect(fitting.cost == 1 << 15 && fitting.blockSize == 8)
            // N 2¹³, r 8, p 10; of those that OWASP holds equal it is the least work.
            #expect(fitting.work >= (1 << 13) * 8 * 10)
            #expect(fitting.memory <= Scrypt.defaultMemoryLimit)
        }
        let spent = try Scrypt.Parameters(cost: 1 << 14, blockSize: 8, parallelization: 4)
        #expect(Scrypt.Parameters.recommended.rest(after: spent)?.parallelization == 1)
        #expect(Scrypt.Parameters.recommended.rest(after: .recommended) == nil)
        #expect(Scrypt.Parameters.recommended.rest(after: .dearest) == nil)
    }

    @Test func `scrypt takes the recommended parameters within the default memory`() throws {
        let text = try Scrypt.hash(SecretBytes([1]))
        #expect(text.hasPrefix("scrypt$32768$8$3$"))
        #expect(try Scrypt.verify(SecretBytes([1]), against: text))
    }

    @Test(arguments: [
        "", "scrypt", "scrypt$$$$$", "scrypt$16$1$1$AAAAAAAAAAA=",
        "bcrypt$16$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$16$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==$",
        "scrypt$016$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$+16$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$16$-1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$16$1$0$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$17$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$1$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$99999999999999999999$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$16$1$1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$16$1$1$ AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==",
        "scrypt$16$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAB==",
        "scrypt$16$1$1$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==\n",
        "scrypt$16$1$1$AAAAAAAAAAA=$AAA=AAAAAAAAAAAAAAAAAA==",
        "scrypt$16$1$1$AAAAAAAAAAA=$", "scrypt$16$1$1$AAAAAAAAAAA=$AAAA",
        "scrypt$16$1$1$$AAAAAAAAAAAAAAAAAAAAAA==", "scrypt$16$1$1$====$====",
        "scrypt$16$1$1$AAAAAAAAAAA=$" + String(repeating: "A", count: 100_000),
    ])
    func `scrypt refuses a malformed hash`(text: String) {
        #expect(throws: Failure(.malformed, "")) {
            try Scrypt.verify(SecretBytes([1]), against: text)
        }
    }

    @Test(arguments: [
        "scrypt$4194304$8$1", "scrypt$1048576$8$1", "scrypt$131072$8$1", "scrypt$536870912$1$1",
        "scrypt$16$999999999$1", "scrypt$16$1$999999999", "scrypt$2097152$1$1",
    ])
    func `scrypt refuses a hash with excessive parameters`(start: String) {
        #expect(throws: Failure(.tooLarge, "")) {
            try Scrypt.verify(
                SecretBytes([1]), against: start + "$AAAAAAAAAAA=$AAAAAAAAAAAAAAAAAAAAAA==")
        }
    }

    /// HMAC fills short keys up with zeros, and scrypt begins with HMAC. Callers who take more than
    /// text for a passphrase must know.
    @Test func `scrypt does not distinguish zero bytes after a passphrase`() throws {
        let text = try Scrypt.hash(SecretBytes([1, 2]), parameters: #require(Self.weak))
        #expect(try Scrypt.verify(SecretBytes([1, 2, 0]), against: text))
    }

    @Test func `scrypt stays within its granted memory`() throws {
        let parameters = try Scrypt.Parameters(cost: 1024, blockSize: 8, parallelization: 1)
        let memory = parameters.memory
        #expect(throws: Failure(.tooLarge, "")) {
            try Scrypt.hash(SecretBytes([1]), parameters: parameters, memoryLimit: memory - 1)
        }
        #expect(throws: Never.self) {
            try Scrypt.hash(SecretBytes([1]), parameters: parameters, memoryLimit: memory)
        }
    }
}
