import Testing
import Values

@testable import SAML

@Suite struct `Assertions that are refused` {
    private func refuse(_ name: String, _ reason: SAML.Rejection) throws {
        let forge = try Forge.forge()
        let text = try forge.document(name)
        #expect(try forge.reason(text) == reason.reason)
    }

    /// In five of the eight a verifier that looks for any signature finds a good one.
    @Test(arguments: [
        ("XSW1", SAML.Rejection.signatureParts, false), ("XSW2", .referenceTarget, true),
        ("XSW3", .notAnAssertion, true), ("XSW4", .signaturePlace, true),
        ("XSW5", .referenceTarget, true), ("XSW6", .signatureParts, false),
        ("XSW7", .signaturePlace, true), ("XSW8", .signatureParts, false),
    ])
    func `an assertion that is wrapped around a signed one is refused`(
        name: String, reason: SAML.Rejection, careless: Bool
    ) throws {
        #expect(try Forge.forge().careless[name] == careless)
        try refuse(name, reason)
    }

    @Test(arguments: ["XSW same id", "XSW same id lower case", "XSW xml:id"])
    func `an assertion in which an ID stands twice is refused`(name: String) throws {
        try refuse(name, .duplicateID)
    }

    @Test(arguments: [
        ("two signatures", SAML.Rejection.signatureCount), ("no signature", .signatureCount),
        ("another's signature", .referenceTarget), ("in a response", .notAnAssertion),
        ("child only", .referenceTarget), ("no reference address", .referenceTarget),
        ("reference elsewhere", .referenceTarget), ("reference to a file", .referenceTarget),
        ("xpointer reference", .referenceTarget), ("two references", .referenceCount),
        ("extra in signed info", .referenceCount),
        ("object", .signatureParts), ("id no name", .badID), ("no id", .badID),
        ("empty reference", .referenceTarget),
    ])
    func `an assertion whose signature is not over it alone is refused`(
        name: String, reason: SAML.Rejection
    ) throws {
        try refuse(name, reason)
    }

    /// All of these xmlsec1 finds good.
    @Test(arguments: [
        ("sha1 signature", SAML.Rejection.signatureAlgorithm), ("sha1 digest", .digestAlgorithm),
        ("inclusive signed info", .canonicalization),
        ("signed info with comments", .canonicalization), ("inclusive transform", .transforms),
        ("transform with comments", .transforms), ("enveloped alone", .transforms),
        ("xpath transform", .transforms),
    ])
    func `a signature by an algorithm that is not allowed is refused, although it is right`(
        name: String, reason: SAML.Rejection
    ) throws {
        #expect(try Forge.forge().careless[name] == true)
        try refuse(name, reason)
    }

    @Test(arguments: [
        ("md5 digest", SAML.Rejection.digestAlgorithm), ("hmac", .signatureAlgorithm),
        ("hmac by xmldsig", .signatureAlgorithm), ("hmac length", .signatureAlgorithm),
        ("signature of another space", .signatureAlgorithm), ("not enveloped", .transforms),
        ("xslt transform", .transforms),
    ])
    func `a signature by an algorithm that nobody should use is refused`(
        name: String, reason: SAML.Rejection
    ) throws {
        try refuse(name, reason)
    }

    @Test(arguments: [
        "foreign key", "foreign key, name of ours", "short key", "changed name",
        "changed attribute", "added attribute", "other trusted issuer's key",
    ])
    func `an assertion that no key of its issuer signed is refused`(name: String) throws {
        try refuse(name, .badSignature)
    }

    @Test(arguments: ["instruction added", "instruction signed", "instruction before"])
    func `an assertion with a processing instruction is refused`(name: String) throws {
        try refuse(name, .unexpectedNode)
    }

    @Test(arguments: [
        ("wrong audience", SAML.Rejection.wrongAudience),
        ("audience that begins alike", .wrongAudience), ("two restrictions", .wrongAudience),
        ("no restriction", .badConditions), ("no conditions", .badConditions),
        ("not on or after missing", .badConditions),
        ("ends before it begins", .badConditions), ("not yet valid", .notYetValid),
        ("expired", .expired),
        ("unknown condition", .unknownCondition),
        ("unknown condition of SAML", .unknownCondition),
        ("known condition of another space", .unknownCondition),
        ("too long", .unreasonableLifetime),
        ("issued long ago", .unreasonableLifetime), ("issued in the future", .issuedInTheFuture),
        ("no instant", .badInstant), ("local time", .badInstant), ("session over", .expired),
    ])
    func `an assertion for another time or place is refused`(
        name: String, reason: SAML.Rejection
    ) throws {
        try refuse(name, reason)
    }

    @Test(arguments: [
        ("wrong recipient", SAML.Rejection.wrongRecipient),
        ("no recipient", .noBearerConfirmation), ("no confirmation end", .noBearerConfirmation),
        ("confirmation passed", .confirmationExpired), ("holder of key", .noBearerConfirmation),
        ("no confirmation", .noBearerConfirmation), ("no name", .badSubject),
        ("empty name", .badSubject), ("no subject", .badSubject), ("two names", .badSubject),
        ("element in a name", .badSubject), ("encrypted name", .encryptedPart),
        ("encrypted attribute", .encryptedPart), ("wrong issuer", .unknownIssuer),
        ("issuer of another format", .unknownIssuer), ("version 1.1", .wrongVersion),
    ])
    func `an assertion about nobody, for no bearer or by a stranger is refused`(
        name: String, reason: SAML.Rejection
    ) throws {
        try refuse(name, reason)
    }

    @Test func `an assertion is refused where the issuer has no key of the signature's kind`()
        throws
    {
        let forge = try Forge.forge()
        var rules = try forge.rules()
        rules.issuers[1].keys = [try forge.key("p256")]
        let text = try forge.document("good rsa 256")
        #expect(throws: SAML.Rejection.noFittingKey) { try forge.verify(text, rules: rules) }
    }

    @Test func `an assertion of which any byte was changed says the same or is refused`() throws {
        let forge = try Forge.forge()
        let text = Array(try forge.document("good p256 sha256").utf8)
        let whole = try forge.verify(String(decoding: text, as: UTF8.self))
        var rules = try forge.rules()
        rules.issuers[1].keys = [try forge.key("p256")]
        for index in text.indices {
            var changed = text
            changed[index] ^= 1 << UInt8(index % 7)
            let encoded = Base64URL.encode(changed)
            let read = try? SAML.verify(encoded, rules: rules, at: forge.now)
            #expect(read == nil || read == whole, "byte \(index)")
        }
        for length in stride(from: 0, to: text.count - 1, by: 97) {
            #expect(throws: SAML.Rejection.self) {
                try SAML.verify(
                    Base64URL.encode(Array(text[..<length])), rules: rules, at: forge.now)
            }
        }
    }

    /// Two of them, both right and both signed.
    @Test func `xmlsec1 finds two references good, and one is taken`() throws {
        #expect(try Forge.forge().careless["two references"] == true)
    }

    /// What the rules refuse before is refused once more by libxmlsec1.
    @Test(arguments: [
        "sha1 signature", "sha1 digest", "hmac", "hmac by xmldsig", "inclusive signed info",
        "signed info with comments", "inclusive transform", "transform with comments",
        "xpath transform", "xslt transform", "reference elsewhere", "reference to a file",
        "empty reference", "child only", "XSW2", "XSW5", "two references", "foreign key",
    ])
    func `a document that no rule looked at is refused by the library`(name: String) throws {
        let forge = try Forge.forge()
        let document = try XMLDocument(Array(forge.document(name).utf8))
        let key = try #require(forge.keys["rsa"]).publicKey
        #expect(document.verify(by: key) == .bad)
        let good = try XMLDocument(Array(forge.document("good rsa 256").utf8))
        guard case .good = good.verify(by: key) else {
            Issue.record("A good one is good.")
            return
        }
    }

    /// What is read afterwards: the root without its signature, and without what canonicalization leaves out.
    @Test func `the bytes that a signature covers are those that were digested`() throws {
        let forge = try Forge.forge()
        let document = try XMLDocument(Array(forge.document("comment added").utf8))
        let key = try #require(forge.keys["rsa"]).publicKey
        guard case .good(let bytes) = document.verify(by: key) else {
            Issue.record("It is good.")
            return
        }
        let covered = String(decoding: bytes, as: UTF8.self)
        #expect(covered.hasPrefix("<ns0:Assertion "))
        #expect(covered.hasSuffix("</ns0:Assertion>"))
        #expect(covered.contains(">ann@example.org.evil.example<"))
        #expect(!covered.contains("Signature") && !covered.contains("<!--"))
        #expect(try XMLDocument(bytes).root["ID"] == document.root["ID"])
    }

    @Test func `a refusal tells its sender nothing, and an operator which rule it was`() {
        let said = Set(SAML.Rejection.allCases.map { "\($0)" })
        #expect(said == ["the assertion is not accepted"])
        let reasons = Set(SAML.Rejection.allCases.map(\.reason))
        #expect(reasons.count == SAML.Rejection.allCases.count)
        #expect("\(String(reflecting: SAML.Rejection.expired))" == SAML.Rejection.expired.reason)
    }
}
