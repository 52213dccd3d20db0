import Testing

@testable import Cryptography

/// The `openssl` command makes the keys, signatures and certificates.
@Suite(.enabled(if: Command.isThere, "the openssl command is not installed"))
struct `Keys and certificates of others` {
    /// How `openssl genpkey` makes a key, and what `openssl pkeyutl` signs with.
    struct Maker: Sendable, CustomStringConvertible {
        let scheme: SignatureScheme
        let kind: VerifyingKey.Kind
        let key: String
        let signing: String

        var description: String { "\(scheme)" }

        init(
            _ scheme: SignatureScheme, _ kind: VerifyingKey.Kind, _ key: String, _ signing: String
        ) {
            self.scheme = scheme
            self.kind = kind
            self.key = key
            self.signing = signing
        }

        static let rsa = "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"
        static let pss = "-pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:digest"
        static func curve(_ name: String) -> String {
            "-algorithm EC -pkeyopt ec_paramgen_curve:\(name)"
        }

        static let all: [Maker] = [
            Maker(.es256, .p256, curve("P-256"), "-digest sha256"),
            Maker(.es384, .p384, curve("P-384"), "-digest sha384"),
            Maker(.es512, .p521, curve("P-521"), "-digest sha512"),
            Maker(.rs1, .rsa, rsa, "-digest sha1"), Maker(.rs256, .rsa, rsa, "-digest sha256"),
            Maker(.rs384, .rsa, rsa, "-digest sha384"), Maker(.rs512, .rsa, rsa, "-digest sha512"),
            Maker(.ps256, .rsa, rsa, "-digest sha256 \(pss)"),
            Maker(.ps384, .rsa, rsa, "-digest sha384 \(pss)"),
            Maker(.ps512, .rsa, rsa, "-digest sha512 \(pss)"),
            Maker(.ed25519, .ed25519, "-algorithm ED25519", ""),
            Maker(.ed448, .ed448, "-algorithm ED448", ""),
        ]
    }

    @Test(arguments: Maker.all)
    func `a foreign key verifies what was signed in its scheme, and no other signature`(
        _ maker: Maker
    ) throws {
        let folder = try Folder()
        let message = Array("a message for both".utf8)
        try folder.write(message, "message")
        #expect(folder.run("openssl genpkey \(maker.key) -out key 2>/dev/null"))
        #expect(
            folder.run(
                """
                openssl pkeyutl -sign -rawin -in message -inkey key \(maker.signing) -out signed \
                && openssl req -new -x509 -key key -subj /CN=x -days 9 -outform DER -out cert
                """))
        let key = try Certificate(der: folder.read("cert")).publicKey()
        let signature = try folder.read("signed")
        #expect(key.kind == maker.kind)
        for scheme in SignatureScheme.allCases {
            #expect(
                key.isValid(signature, for: message, scheme: scheme) == (scheme == maker.scheme),
                "\(scheme)")
        }
        #expect(!key.isValid(signature, for: message + [0], scheme: maker.scheme))
        #expect(!key.isValid(signature + [0], for: message, scheme: maker.scheme))
        #expect(!key.isValid(signature.dropLast(), for: message, scheme: maker.scheme))
        #expect(!key.isValid([], for: message, scheme: maker.scheme))
        for index in stride(from: 0, to: signature.count, by: 7) {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, for: message, scheme: maker.scheme), "\(index)")
        }
    }

    @Test(arguments: [
        "-algorithm RSA -pkeyopt rsa_keygen_bits:1024", Maker.curve("secp256k1"),
        Maker.curve("P-256") + " -pkeyopt ec_param_enc:explicit", "-algorithm X25519",
    ]) func `a foreign key that is too weak is refused`(_ kind: String) throws {
        let folder = try Folder()
        #expect(folder.run("openssl genpkey \(kind) -out key 2>/dev/null"))
        #expect(
            folder.run(
                """
                openssl genpkey -algorithm ED25519 -out authority \
                && openssl req -new -key authority -subj /CN=x -out request \
                && openssl pkey -in key -pubout -out public \
                && openssl x509 -req -in request -force_pubkey public -signkey authority -days 9 \
                -outform DER -out cert 2>/dev/null
                """))
        let certificate = try Certificate(der: folder.read("cert"))
        #expect(throws: Failure(.malformed, "")) { try certificate.publicKey() }
    }

    @Test func `a foreign key equals another encoding of itself`() throws {
        let first = try ES256.PrivateKey.generate().publicKey
        let second = try ES256.PrivateKey.generate().publicKey
        let key = try VerifyingKey(curve: .p256, x: first.x, y: first.y)
        #expect(try key == VerifyingKey(curve: .p256, x: first.x, y: first.y))
        #expect(try key != VerifyingKey(curve: .p256, x: second.x, y: second.y))
        let rsa = try RS256.PrivateKey.generate().publicKey
        #expect(try key != VerifyingKey(modulus: rsa.modulus, exponent: rsa.exponent))
        let edwards = try Ed25519.PrivateKey.generate().publicKey
        #expect(try key != VerifyingKey(edwards: .ed25519, edwards.bytes))
    }

    @Test func `a foreign key with invalid numbers is refused`() throws {
        let key = try ES256.PrivateKey.generate().publicKey
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(throws: Failure.self) { try VerifyingKey(curve: .p256, x: key.x, y: zero) }
        #expect(throws: Failure.self) { try VerifyingKey(curve: .p256, x: key.x, y: [1]) }
        #expect(throws: Failure.self) { try VerifyingKey(curve: .p384, x: key.x, y: key.y) }
        #expect(throws: Failure.self) { try VerifyingKey(curve: .rsa, x: key.x, y: key.y) }
        #expect(throws: Failure.self) { try VerifyingKey(edwards: .ed448, key.x) }
        #expect(throws: Failure.self) { try VerifyingKey(edwards: .p256, key.x) }
        #expect(throws: Failure.self) { try VerifyingKey(modulus: [1], exponent: [3]) }
    }

    @Test func `a certificate chain is accepted up to a root within its validity`() throws {
        let folder = try Folder()
        let make =
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout rootkey -subj /CN=root -days 3650 \
            -out root 2>/dev/null && openssl req -newkey rsa:2048 -nodes -keyout key -subj /CN=leaf \
            -out request 2>/dev/null && openssl x509 -req -in request -CA root -CAkey rootkey \
            -CAcreateserial -days 30 -outform DER -out leaf 2>/dev/null \
            && openssl x509 -req -sha1 -in request -CA root -CAkey rootkey -CAcreateserial -days 30 \
            -outform DER -out old 2>/dev/null \
            && openssl x509 -in root -outform DER -out rootder && date +%s >now
            """
        #expect(folder.run(make))
        let text = try String(decoding: folder.read("now").dropLast(), as: UTF8.self)
        let now = try #require(Int64(text)) + 60
        let root = try Certificate(der: folder.read("rootder"))
        let leaf = try Certificate(der: folder.read("leaf"))
        let chain = try CertificateChain([leaf])
        try chain.check(at: now)
        try chain.checkTrust(roots: [root], at: now)
        #expect(throws: CertificateChain.Flaw.untrusted) {
            try chain.checkTrust(roots: [], at: now)
        }
        #expect(throws: CertificateChain.Flaw.untrusted) {
            try chain.checkTrust(roots: [root], at: now + 40 * 86_400)
        }
        for wrong in [now + 40 * 86_400, now - 86_400, .max, .min] {
            #expect(throws: CertificateChain.Flaw.outOfDate) { try chain.check(at: wrong) }
        }
        #expect(leaf.isIssued(by: root) && !root.isIssued(by: leaf))
        #expect(root.isSelfSigned && !leaf.isSelfSigned)
        #expect(leaf.subject("2.5.4.3") == ["leaf"] && leaf.subject("2.5.4.6").isEmpty)
        #expect(root.isAuthority == true)
        #expect(try root.extension("2.5.29.19")?.isCritical == true)
        #expect(try root.extension("1.2.3.4") == nil)
        #expect(throws: CertificateChain.Flaw.broken) {
            try CertificateChain([leaf, leaf]).check(at: now)
        }
        #expect(throws: CertificateChain.Flaw.empty) { try CertificateChain([]) }
        let old = try CertificateChain([Certificate(der: folder.read("old"))])
        #expect(throws: CertificateChain.Flaw.untrusted) {
            try old.checkTrust(roots: [root], at: now)
        }
    }

    @Test func `a certificate issued by a weak key is refused`() throws {
        let folder = try Folder()
        #expect(
            folder.run(
                """
                openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out key 2>/dev/null \
                && openssl req -x509 -key key -subj /CN=x -days 9 -outform DER -out cert
                """))
        let certificate = try Certificate(der: folder.read("cert"))
        #expect(!certificate.isSelfSigned)
    }

    @Test func `a foreign key verifies on many threads at once`() async throws {
        let folder = try Folder()
        #expect(
            folder.run(
                """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key \
                -subj /CN=x -days 9 -outform DER -out cert 2>/dev/null && date +%s >now
                """))
        let text = try String(decoding: folder.read("now").dropLast(), as: UTF8.self)
        let now = try #require(Int64(text)) + 60
        let root = try Certificate(der: folder.read("cert"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    for _ in 0..<25 {
                        let chain = try CertificateChain([Certificate(der: root.der)])
                        try chain.checkTrust(roots: [root], at: now)
                        #expect(root.isSelfSigned && root.isAuthority == true)
                        #expect(try root.publicKey() == root.publicKey())
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a certificate that is cut, or has trailing bytes, is refused`() throws {
        let folder = try Folder()
        #expect(
            folder.run(
                """
                openssl req -x509 -newkey ed25519 -nodes -keyout key -subj /CN=x -days 9 \
                -outform DER -out cert 2>/dev/null
                """))
        let bytes = try folder.read("cert")
        #expect(try Certificate(der: bytes).version == 3)
        for count in bytes.indices {
            #expect(throws: Failure(.malformed, "")) {
                try Certificate(der: Array(bytes[..<count]))
            }
        }
        #expect(throws: Failure(.malformed, "")) { try Certificate(der: bytes + [0]) }
        #expect(throws: Failure(.tooLarge, "")) {
            try Certificate(der: [UInt8](repeating: 0x30, count: Certificate.maximumLength + 1))
        }
    }

    @Test func `digests equal those of other implementations`() throws {
        let folder = try Folder()
        try folder.write([1, 2, 3], "message")
        for function in HashFunction.allCases {
            let name = function.rawValue.lowercased()
            #expect(folder.run("openssl dgst -\(name) -binary -out digest message"))
            #expect(try function.hash([1, 2, 3]) == folder.read("digest"))
        }
    }
}
