import Testing

@testable import Cryptography

@Suite struct `Keys shared by many threads` {
    @Test func `one key signs and verifies on many threads as on one`() async throws {
        let ed25519 = try Ed25519.PrivateKey.generate()
        let es256 = try ES256.PrivateKey.generate()
        let rs256 = try RS256.PrivateKey.generate()
        let secret = SecretBytes.random(32)
        let failures = try await withThrowingTaskGroup(of: Int.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    var failures = 0
                    for number in 0..<50 {
                        let message = [UInt8(thread), UInt8(number)]
                        let sealed = try AESGCM.seal(message, key: secret)
                        let results = try [
                            ed25519.publicKey.isValid(ed25519.sign(message), for: message),
                            es256.publicKey.isValid(es256.sign(message), for: message),
                            rs256.publicKey.isValid(rs256.sign(message), for: message),
                            AESGCM.open(sealed, key: secret) == message,
                            !ed25519.publicKey.isValid(es256.sign(message), for: message),
                        ]
                        failures += results.count { !$0 }
                    }
                    return failures
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(failures == 0)
    }
}
