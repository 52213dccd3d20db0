import Testing
import Values

@testable import SAML

@Suite struct `Keys of issuers of assertions` {
    @Test(arguments: ["rsa", "p256", "p384"])
    func `a key is read of a certificate, of a public key and of what people paste`(name: String)
        throws
    {
        let key = try #require(try Forge.forge().keys[name])
        let read = try SAML.Key(certificate: key.certificate)
        #expect(read.spki == key.publicKey)
        #expect(try SAML.Key(publicKey: key.publicKey) == read)
        #expect(try SAML.Key(text: key.pem) == read)
        #expect(try SAML.Key(text: Base64.encode(key.certificate)) == read)
        let indented = key.pem.split(separator: "\n").map { "   \($0)\r\n" }.joined()
        #expect(try SAML.Key(text: indented) == read)
        let publicPEM =
            "-----BEGIN PUBLIC KEY-----\n\(Base64.encode(key.publicKey))\n-----END PUBLIC KEY-----"
        #expect(try SAML.Key(text: publicPEM) == read)
    }

    @Test(arguments: ["short", "p521", "ed25519"])
    func `a key of a kind or size that no signature is taken of is refused`(name: String) throws {
        let key = try #require(try Forge.forge().keys[name])
        #expect(throws: SAML.Key.Fault.unsupported) {
            try SAML.Key(certificate: key.certificate)
        }
        #expect(throws: SAML.Key.Fault.self) { try SAML.Key(publicKey: key.publicKey) }
    }

    @Test(arguments: ["", "x", "AAAA", "-----BEGIN PRIVATE KEY-----\nAAAA\n"])
    func `a text that is no key is refused`(text: String) {
        #expect(throws: SAML.Key.Fault.unreadable) { try SAML.Key(text: text) }
    }

    @Test func `bytes behind a key are refused`() throws {
        let key = try #require(try Forge.forge().keys["rsa"])
        #expect(throws: SAML.Key.Fault.unreadable) {
            try SAML.Key(certificate: key.certificate + [0])
        }
        #expect(throws: SAML.Key.Fault.unreadable) {
            try SAML.Key(publicKey: key.publicKey + [0])
        }
    }
}
