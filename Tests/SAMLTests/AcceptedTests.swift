import SAML
import Testing
import Values

@Suite struct `Assertions that are accepted` {
    @Test(arguments: [
        "good rsa 256", "good rsa 384", "good rsa 512", "good p256 sha256", "good p256 sha384",
        "good p384 sha256", "good p384 sha384", "good no key info", "good old key",
        "good foreign key info", "good prefix list", "good one-time use", "good cdata",
        "good other confirmation first", "two audiences", "confirmation within skew",
        "begins within skew", "not before missing", "ends within skew", "issued a while ago",
    ])
    func `an assertion that pysaml2 makes is accepted`(name: String) throws {
        let forge = try Forge.forge()
        let assertion = try forge.verify(forge.document(name))
        #expect(assertion.issuer == "https://idp.example/metadata")
        #expect(assertion.nameID == "ann")
        #expect(assertion.id.hasPrefix("id-"))
    }

    @Test func `an assertion's statements are read`() throws {
        let forge = try Forge.forge()
        let assertion = try forge.verify(forge.document("good rsa 256"))
        #expect(
            assertion.nameIDFormat == "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")
        #expect(assertion.notOnOrAfter == forge.now.adding(seconds: 300))
        #expect(assertion.acceptedUntil == forge.now.adding(seconds: 330))
        #expect(assertion.authenticatedAt == forge.now.adding(seconds: -60))
        #expect(assertion.sessionIndex == "s-1")
        #expect(
            assertion.authenticationContext
                == "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport")
        #expect(assertion.values(of: "urn:oid:2.5.4.42") == ["Ann"])
        #expect(
            assertion.values(of: "urn:oid:0.9.2342.19200300.100.1.3")
                == ["ann@example.org", "a@example.org"])
        #expect(assertion.attributes.map(\.friendlyName) == ["givenName", "mail"])
        #expect(
            assertion.attributes.first?.nameFormat
                == "urn:oasis:names:tc:SAML:2.0:attrname-format:uri")
        let claimed = try SAML.claimedIssuer(
            in: Base64URL.encode(Array(forge.document("good rsa 256").utf8)))
        #expect(claimed == assertion.issuer)
    }

    /// A reader that takes the first text node sees another name than the issuer signed.
    @Test(arguments: ["comment added", "comment signed"])
    func `a comment in a name cuts nothing off`(name: String) throws {
        let forge = try Forge.forge()
        let text = try forge.document(name)
        #expect(text.contains("<!--"))
        #expect(try forge.verify(text).nameID == "ann@example.org.evil.example")
    }

    @Test func `a comment in an attribute's value cuts nothing off`() throws {
        let forge = try Forge.forge()
        let assertion = try forge.verify(forge.document("comment in value"))
        #expect(assertion.values(of: "urn:oid:2.5.4.42") == ["Ann"])
    }

    @Test func `an assertion is accepted in its encoding with padding and without`() throws {
        let forge = try Forge.forge()
        // One of three lengths needs no padding.
        for space in ["", " ", "  "] {
            let text = Array((try forge.document("good rsa 256") + space).utf8)
            let plain = Base64URL.encode(text)
            let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
            for encoded in [plain, padded] {
                #expect(throws: Never.self) {
                    try SAML.verify(encoded, rules: forge.rules(), at: forge.now)
                }
            }
            for encoded in [plain + "===", padded + "====", plain + "=A", "=" + plain] {
                #expect(throws: SAML.Rejection.notEncoded) {
                    try SAML.verify(encoded, rules: forge.rules(), at: forge.now)
                }
            }
        }
    }

    @Test func `many threads verify assertions at once`() async throws {
        let forge = try Forge.forge()
        let text = try forge.document("good p256 sha256")
        let bad = try forge.document("changed name")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    #expect(throws: Never.self) { try forge.verify(text) }
                    #expect(throws: SAML.Rejection.badSignature) { try forge.verify(bad) }
                }
            }
        }
    }
}
