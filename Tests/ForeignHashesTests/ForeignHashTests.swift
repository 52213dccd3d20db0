import Cryptography
import ForeignHashes
import Foundation
import Testing

/// Hashes that unrelated libraries made, of which `hashes.py` says which.
@Suite struct ForeignHashTests {
    private static let passphrase = "Grüße an Ὀδυσσεύς, 7 words"

    private static func made() throws -> [(scheme: String, text: String)] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let program = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "hashes.py")
        process.arguments = ["-B", "-W", "ignore", program.path(), passphrase]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            return (words[0], words[1])
        }
    }

    private static func secret(_ text: String) -> SecretBytes { SecretBytes(Array(text.utf8)) }

    @Test func `a hash that another library made takes its passphrase and no other`() throws {
        let hashes = try Self.made()
        #expect(hashes.count == 20)
        for (scheme, text) in hashes {
            let hash = try ForeignHash(text)
            #expect(try hash.verify(Self.secret(Self.passphrase)), "\(scheme): \(text)")
            for wrong in [Self.passphrase + "x", "", String(Self.passphrase.dropLast())] {
                #expect(try !hash.verify(Self.secret(wrong)), "\(scheme): \(text)")
            }
        }
    }

    @Test func `a hash with a changed letter takes its passphrase no more`() throws {
        for (scheme, text) in try Self.made() {
            var letters = Array(text.utf8)
            // In the key: of that of PBKDF2 the first block is compared.
            let place = try #require(letters.lastIndex(of: UInt8(ascii: "$"))) + 5
            letters[place] =
                letters[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let changed = try ForeignHash(String(decoding: letters, as: UTF8.self))
            #expect(try !changed.verify(Self.secret(Self.passphrase)), "\(scheme): \(text)")
        }
    }

    private static let salt = "MTIzNDU2Nzg5MDEyMzQ1Ng"
    private static let key = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI"

    @Test(arguments: [
        "$2b$15$" + String(repeating: "a", count: 53),
        "$2b$31$" + String(repeating: "a", count: 53),
        "$6$rounds=1000001$abc$" + String(repeating: "a", count: 86),
        "$5$rounds=999999999$abc$" + String(repeating: "a", count: 43),
        "$argon2id$v=19$m=131073,t=1,p=1$\(salt)$\(key)",
        "$argon2id$v=19$m=65536,t=17,p=1$\(salt)$\(key)",
        "$argon2id$v=19$m=999999999,t=999999999,p=1$\(salt)$\(key)",
        "$argon2id$v=19$m=8192,t=1,p=65$\(salt)$\(key)",
        "pbkdf2_sha256$1500001$abc$\(key)=", "$pbkdf2-sha512$i=750001$\(salt)$\(key)",
        "$scrypt$ln=18,r=8,p=1$\(salt)$\(key)", "$scrypt$ln=14,r=8,p=64$\(salt)$\(key)",
        "$scrypt$ln=63,r=8,p=1$\(salt)$\(key)", "$scrypt$ln=10,r=999999999,p=1$\(salt)$\(key)",
        "firebase-scrypt$18$8$Bw==$\(key)=$\(salt)==$\(key)=",
    ]) func `a hash that takes too much time or memory is refused when it is read`(text: String) {
        #expect(throws: ForeignHash.Fault.tooExpensive) { try ForeignHash(text) }
    }

    @Test(arguments: [
        "$2b$03$" + String(repeating: "a", count: 53),
        "$2b$10$" + String(repeating: "a", count: 52),
        "$2b$10$" + String(repeating: "!", count: 53),
        "$2b$1x$" + String(repeating: "a", count: 53),
        "$6$rounds=999$abc$" + String(repeating: "a", count: 86),
        "$6$abc$" + String(repeating: "a", count: 85), "$6$" + String(repeating: "a", count: 86),
        "$5$rounds=05000$abc$" + String(repeating: "a", count: 43),
        "$argon2id$v=18$m=1024,t=1,p=1$\(salt)$\(key)", "$argon2id$v=19$m=4,t=1,p=1$\(salt)$\(key)",
        "$argon2id$v=19$m=1024,t=0,p=1$\(salt)$\(key)", "$argon2id$v=19$m=1024,t=1$\(salt)$\(key)",
        "$argon2id$v=19$m=1024,t=1,p=1$\(salt)$YWJj",
        "$argon2id$v=19$m=1024,t=1,p=1,p=2$\(salt)$\(key)",
        "pbkdf2_sha256$0$abc$\(key)=", "pbkdf2_sha256$-1$abc$\(key)=",
        "pbkdf2_sha256$1000$abc$", "$pbkdf2-sha256$i=1000,l=64$\(salt)$\(key)",
        "$scrypt$ln=0,r=8,p=1$\(salt)$\(key)", "scrypt$1000$8$1$\(salt)==$\(key)=",
        "$scrypt$ln=10,r=8,p=1$\(salt)$", "firebase-scrypt$14$8$Bw==$\(key)=$\(salt)==$MTIz",
        String(repeating: "$6$", count: 400), "$6$a b$" + String(repeating: "a", count: 86),
    ]) func `a hash that is not in the form of its scheme is refused`(text: String) {
        #expect(throws: ForeignHash.Fault.malformed) { try ForeignHash(text) }
    }

    @Test(arguments: [
        "5f4dcc3b5aa765d61d8327deb882cf99", "pbkdf2_md5$1$abc$\(key)=", "$1$abc$def", "{SSHA}abc",
        "$2x$10$a", "x",
    ])
    func `a scheme that is not known is refused`(text: String) {
        #expect(throws: ForeignHash.Fault.unknownScheme) { try ForeignHash(text) }
    }

    @Test func `a passphrase that libcrypt cannot read is wrong`() throws {
        let bcrypt = try #require(try Self.made().first { $0.scheme == "bcrypt" })
        let hash = try ForeignHash(bcrypt.text)
        #expect(try !hash.verify(Self.secret(Self.passphrase + "\0")))
        #expect(try !hash.verify(Self.secret(String(repeating: "x", count: 4000))))
    }
}
