public import Values

/// Bearer assertions of SAML 2.0 at a token endpoint (RFC 7522).
///
/// libxml2 parses and libxmlsec1 verifies, with everything off that is not needed (decision 0135).
/// What an assertion says is read from the very bytes that its signature covers.
public enum SAML {
    /// Maximum length of an encoded assertion.
    public static let longestText = (XMLDocument.mostBytes + 2) / 3 * 4

    /// Whom to believe, and by which keys.
    public struct Issuer: Sendable, Hashable {
        public static let mostKeys = 8

        /// As `Issuer` says it.
        public var name: String
        /// Some, so that an issuer can change its key; the first eight are tried.
        public var keys: [Key]

        public init(name: String, keys: [Key]) {
            self.name = name
            self.keys = keys
        }
    }

    public struct Rules: Sendable, Hashable {
        public var issuers: [Issuer]
        /// Our own names: every restriction must have one of them.
        public var audiences: [String]
        /// The addresses of the token endpoint.
        public var recipients: [String]
        /// How far the clocks may be apart, in seconds; 0 to 300.
        public var skew: Int64
        /// In seconds, from `IssueInstant` to the end.
        public var longestLifetime: Int64

        public init(
            issuers: [Issuer], audiences: [String], recipients: [String], skew: Int64 = 30,
            longestLifetime: Int64 = 3600
        ) {
            self.issuers = issuers
            self.audiences = audiences
            self.recipients = recipients
            self.skew = skew
            self.longestLifetime = longestLifetime
        }

        var boundedSkew: Int64 { min(max(skew, 0), 300) }
    }

    /// The issuer that an assertion claims, so that its keys can be looked up. The signature is not checked
    /// yet, and only that look-up may depend on it.
    public static func claimedIssuer(in text: String) throws(Rejection) -> String {
        try issuer(of: document(text).root)
    }

    /// What a bearer assertion says, where all rules hold.
    ///
    /// - Parameter text: the parameter `assertion`, Base64url.
    public static func verify(
        _ text: String, rules: Rules, at now: Timestamp
    ) throws(Rejection) -> Assertion {
        let document = try document(text)
        let signature = try SignatureRules(of: document.root)
        let name = try issuer(of: document.root)
        guard let issuer = rules.issuers.first(where: { $0.name.isSame(as: name) }) else {
            throw .unknownIssuer
        }
        let keys = issuer.keys.prefix(Issuer.mostKeys).filter { signature.kinds.contains($0.kind) }
        guard !keys.isEmpty else { throw .noFittingKey }
        let covered = try covered(by: keys, in: document)
        let signed = try read(covered).root
        guard signed.isNamed("Assertion", in: Names.assertion), signed["ID"] == document.root["ID"]
        else { throw .badSignature }
        return try Reader(root: signed, issuer: name, rules: rules, now: now).assertion()
    }

    /// What the signature is over, by one of the keys.
    private static func covered(
        by keys: [Key], in document: XMLDocument
    ) throws(Rejection) -> [UInt8] {
        for key in keys {
            switch document.verify(by: key.spki) {
            case .good(let covered): return covered
            case .bad: continue
            case .failed: throw .library
            }
        }
        throw .badSignature
    }

    private static func document(_ text: String) throws(Rejection) -> XMLDocument {
        guard text.utf8.count <= longestText else { throw .tooLarge }
        // RFC 7522 section 2.1 would rather have no padding, and does not forbid it.
        let plain = text.hasSuffix("=") ? String(text.prefix { $0 != "=" }) : text
        guard
            plain.utf8.count == text.utf8.count
                || (text.utf8.count % 4 == 0 && text.utf8.count - plain.utf8.count <= 2),
            let bytes = Base64URL.decode(plain), String(validating: bytes, as: UTF8.self) != nil
        else { throw .notEncoded }
        let document = try read(bytes)
        guard document.root.isNamed("Assertion", in: Names.assertion) else {
            throw .notAnAssertion
        }
        guard document.root["Version"]?.isSame(as: "2.0") == true else { throw .wrongVersion }
        return document
    }

    private static func read(_ bytes: [UInt8]) throws(Rejection) -> XMLDocument {
        do {
            return try XMLDocument(bytes)
        } catch {
            switch error {
            case .malformed: throw .malformed
            case .documentType: throw .documentType
            case .tooLarge: throw .tooLarge
            case .unexpectedNode: throw .unexpectedNode
            case .memory: throw .library
            }
        }
    }

    static func issuer(of assertion: XMLElement) throws(Rejection) -> String {
        guard let issuer = assertion.only("Issuer", in: Names.assertion), issuer.children.isEmpty,
            issuer["Format"].map({ $0.isSame(as: Names.entity) }) ?? true, !issuer.text.isEmpty,
            issuer.text.utf8.count <= 1024
        else { throw .unknownIssuer }
        return issuer.text
    }
}
