import Testing

@testable import Cryptography

/// The `openssl` command reads and writes the same keys and signatures through its own code paths.
@Suite(.enabled(if: Command.isThere, "the openssl command is not installed"))
struct `The openssl command` {
    enum Kind: String, CaseIterable { case ed25519, es256, rs256 }

    @Test(arguments: Kind.allCases)
    func `the openssl command accepts Urd's keys and signatures, and the reverse`(kind: Kind) throws
    {
        let folder = try Folder()
        let message = Array("a message for both".utf8)
        try folder.write(message, "message")
        let signature: [UInt8]
        let isValid: ([UInt8]) -> Bool
        switch kind {
        case .ed25519:
            let key = try Ed25519.PrivateKey.generate()
            try folder.write(key.pkcs8().exposedCopy(), "private")
            try folder.write(key.publicKey.spki, "public")
            #expect(try Ed25519.PrivateKey(pkcs8: key.pkcs8()).seed == key.seed)
            #expect(try Ed25519.PublicKey(spki: key.publicKey.spki) == key.publicKey)
            signature = try key.sign(message)
            isValid = { key.publicKey.isValid($0, for: message) }
        case .es256:
            let key = try ES256.PrivateKey.generate()
            try folder.write(key.pkcs8().exposedCopy(), "private")
            try folder.write(key.publicKey.spki, "public")
            signature = try ECDSASignature(joined: key.sign(message)).der()
            isValid = { key.publicKey.isValid(der: $0, for: message) }
        case .rs256:
            let key = try RS256.PrivateKey.generate()
            try folder.write(key.pkcs8().exposedCopy(), "private")
            try folder.write(key.publicKey.spki(), "public")
            signature = try key.sign(message)
            isValid = { key.publicKey.isValid($0, for: message) }
        }
        try folder.write(signature, "ours")
        let digest = kind == .ed25519 ? "" : "-digest sha256"
        #expect(
            folder.run("openssl pkey -inform DER -in private -pubout -outform DER -out derived"))
        #expect(try folder.read("derived") == folder.read("public"))
        #expect(
            folder.run(
                """
                openssl pkeyutl -verify -rawin \(digest) -in message -sigfile ours \
                -pubin -keyform DER -inkey public
                """))
        #expect(
            folder.run(
                """
                openssl pkeyutl -sign -rawin \(digest) -in message -out theirs \
                -keyform DER -inkey private
                """))
        #expect(try isValid(folder.read("theirs")))
    }

    @Test
    func `the openssl command's PSS signatures are verified with the salt length of JOSE alone`()
        throws
    {
        let folder = try Folder()
        let message = Array("a message for both".utf8)
        let key = try RS256.PrivateKey.generate()
        try folder.write(message, "message")
        try folder.write(key.pkcs8().exposedCopy(), "private")
        func signature(salt: String, digest: String = "sha256") throws -> [UInt8] {
            #expect(
                folder.run(
                    """
                    openssl pkeyutl -sign -rawin -digest \(digest) -in message -out theirs \
                    -pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:\(salt) \
                    -keyform DER -inkey private
                    """))
            return try folder.read("theirs")
        }
        let good = try signature(salt: "digest")
        #expect(key.publicKey.isValidPSS(good, for: message))
        #expect(!key.publicKey.isValid(good, for: message))
        #expect(!key.publicKey.isValidPSS(good, for: message + [0]))
        #expect(!key.publicKey.isValidPSS(good + [0], for: message))
        for index in stride(from: 0, to: good.count, by: 7) {
            var changed = good
            changed[index] ^= 1
            #expect(!key.publicKey.isValidPSS(changed, for: message))
            #expect(!key.publicKey.isValidPSS(Array(good[..<index]), for: message))
        }
        #expect(try !key.publicKey.isValidPSS(key.sign(message), for: message))
        for salt in ["0", "20", "max"] {
            #expect(try !key.publicKey.isValidPSS(signature(salt: salt), for: message))
        }
        #expect(
            try !key.publicKey.isValidPSS(signature(salt: "32", digest: "sha384"), for: message))
    }

    /// The same curve, but spelled out in the key instead of named.
    @Test func `the openssl command's keys with explicit curve parameters are refused`() throws {
        let folder = try Folder()
        #expect(
            folder.run(
                """
                openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out explicit \
                && openssl pkcs8 -topk8 -nocrypt -in explicit -outform DER -out private \
                && openssl pkey -in explicit -pubout -outform DER -out public
                """))
        #expect(throws: Failure(.malformed, "")) {
            try ES256.PrivateKey(pkcs8: SecretBytes(folder.read("private")))
        }
        #expect(throws: Failure(.malformed, "")) {
            try ES256.PublicKey(spki: folder.read("public"))
        }
    }

    @Test(arguments: ["-algorithm EC -pkeyopt ec_paramgen_curve:secp384r1", "-algorithm RSA-PSS"])
    func `the openssl command's keys of other kinds are refused`(kind: String) throws {
        let folder = try Folder()
        #expect(folder.run("openssl genpkey \(kind) -outform DER -out key 2>/dev/null"))
        #expect(folder.run("openssl pkcs8 -topk8 -nocrypt -inform DER -in key -outform DER -out p"))
        let encoded = try SecretBytes(folder.read("p"))
        #expect(throws: Failure(.malformed, "")) { try ES256.PrivateKey(pkcs8: encoded) }
        #expect(throws: Failure(.malformed, "")) { try RS256.PrivateKey(pkcs8: encoded) }
        #expect(throws: Failure(.malformed, "")) { try Ed25519.PrivateKey(pkcs8: encoded) }
    }
}
