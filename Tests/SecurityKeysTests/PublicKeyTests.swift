import Cryptography
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// What is kept of a COSE_Key (WebAuthn Level 3, section 6.5.1.1): it stands readable in the log.
@Suite struct `The public key of a credential` {
    static func keys() throws -> [TestKey] {
        [.es256(try .generate()), .rs256(try .generate()), .ed25519(try .generate())]
    }

    @Test func `a credential's public key is stored with its public members alone`() throws {
        for key in try Self.keys() {
            var draft = Draft(.create, key: key)
            draft.publicKey = .map(
                key.members + [
                    (.integer(2), .bytes([1, 2])), (.integer(4), .array([.integer(2)])),
                    (.integer(5), .bytes([9])), (.text("note"), .text("hello")),
                    (.integer(70), .integer(1)),
                ])
            let kept = try Site.register(draft)
            #expect(kept.publicKey == key.cose.encoded)
            #expect(try Site.use(Draft(.get, key: key), publicKey: kept.publicKey).userVerified)
        }
    }

    @Test func `a credential's public key has one form for every order of its members`() throws {
        for key in try Self.keys() {
            var draft = Draft(.create, key: key)
            draft.publicKey = .map(key.members.reversed())
            #expect(try Site.register(draft).publicKey == key.cose.encoded)
        }
    }

    /// Labels of private parts: RFC 9053 section 7, and RFC 8230 section 4 for RSA.
    static func privateLabels(_ key: TestKey) -> [Int64] {
        switch key {
        case .es256, .ed25519: [-4, -5]
        case .rs256: Array(-12 ... -3)
        }
    }

    @Test func `a credential's public key with a private member is refused`() throws {
        for key in try Self.keys() {
            for label in Self.privateLabels(key) {
                var draft = Draft(.create, key: key)
                draft.publicKey = .map(key.members + [(.integer(label), .bytes([1, 2, 3]))])
                let changed = draft
                #expect(throws: WebAuthnFailure.privateKeyDisclosed, "\(label)") {
                    try Site.register(changed)
                }
            }
        }
    }

    @Test func `a credential stored with a private member signs nobody in`() throws {
        for key in try Self.keys() {
            let stored = Item.map(
                key.members + [(.integer(Self.privateLabels(key)[0]), .bytes([1, 2, 3]))])
            #expect(throws: WebAuthnFailure.privateKeyDisclosed) {
                try Site.use(Draft(.get, key: key), publicKey: stored.encoded)
            }
            #expect(StoredCredential.disclosesPrivateKey(stored.encoded))
            #expect(!StoredCredential.disclosesPrivateKey(key.cose.encoded))
            // Whatever else was stored beside it does no harm.
            let extra = Item.map(key.members + [(.integer(2), .bytes([1]))])
            #expect(try Site.use(Draft(.get, key: key), publicKey: extra.encoded).userVerified)
        }
    }
}
