internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// An assertion that an app of the federation profile signed by a key of its own, and may have encrypted to the realm.
/// It is parsed, and its signature is not verified yet.
struct AppAssertion {
    /// What shows that the app has the key (RFC 7800): the key itself, or the name of one that it showed before.
    enum Confirmation {
        case key(JSON)
        case name(String)
    }

    /// The signed message.
    let text: String
    let keyID: String
    let confirmation: Confirmation
    private let members: JSONObject

    private static let longest = SignedStatement.longestText
    /// Maximum lifetime of an assertion in seconds, with or without an `exp`.
    static let longestLife: Int64 = 1800
    private static let leeway: Int64 = 30

    /// Nil for what is no signed message with `cnf`.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        func object(_ part: Substring) -> JSONObject? {
            Base64URL.decode(String(part)).flatMap(ClaimsText.parse)
        }
        guard text.utf8.count <= Self.longest, parts.count == 3, let header = object(parts[0]),
            let members = object(parts[1]), let shown = members["cnf"]?.object
        else { return nil }
        self.text = text
        self.members = members
        keyID = header["kid"]?.string ?? ""
        switch (shown["jwk"], shown["kid"]?.string) {
        case (.some(let key), nil): confirmation = .key(key)
        case (nil, .some(let name)): confirmation = .name(name)
        // What has both, or neither, could mean either.
        default: confirmation = .name("")
        }
    }

    /// The signed part of the assertion. An assertion is good once: encrypting or signing the same part again makes no
    /// new one.
    var signed: [UInt8] {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return Array("\(parts[0]).\(parts[1])".utf8)
    }

    func text(_ name: String) -> String? {
        guard let text = members[name]?.string, !text.isEmpty, text.utf8.count <= 2048 else {
            return nil
        }
        return text
    }

    func holds(_ name: String) -> Bool { members[name] != nil }

    /// A token, which is longer than other members.
    var token: String? { members["x_jwt"]?.string }

    private func integer(_ name: String) -> Int64? {
        guard let value = members[name] else { return nil }
        return value.integer ?? value.string.flatMap { Int64($0) }
    }

    /// Whether it is for this realm alone, and of now. Times may be texts.
    func isGood(for readers: Set<String>, at now: Timestamp) -> Bool {
        let several = members["aud"]?.array ?? []
        let audience = members["aud"]?.string ?? (several.count == 1 ? several[0].string : nil)
        guard let audience, readers.contains(audience), let issued = integer("iat"),
            (0..<(1 << 40)).contains(issued), issued <= now.seconds + Self.leeway,
            now.seconds < issued + Self.longestLife
        else { return false }
        if holds("nbf") {
            guard let start = integer("nbf"), start <= now.seconds + Self.leeway else {
                return false
            }
        }
        guard holds("exp") else { return true }
        guard let end = integer("exp") else { return false }
        return now.seconds < end && issued <= end
    }

    /// Whether it names this key, which has signed it.
    func isSigned(by key: JSON) -> Bool {
        guard let shown = ShownKey(key), shown.id == keyID else { return false }
        return (try? verify(by: KeySet([shown.verifier]))) != nil
    }

    /// Whether that of the keys has signed it which it names.
    func verify(by keys: KeySet) throws(TokenRejection) {
        guard !keyID.isEmpty else { throw .unknownKey }
        let rules = JWS.Rules(
            algorithms: ClientKeys.known, types: TokenTypes(["JWT"], mayBeAbsent: true),
            longest: Self.longest)
        _ = try JWS.verify(text, by: keys, rules: rules)
    }

    /// A public key that an app shows as its own, and its name.
    struct ShownKey {
        let id: String
        /// The members that make it a key, and its name: what is kept of it.
        let kept: JSON
        fileprivate let verifier: VerificationKey

        /// Nil for an invalid key, or one without a `kid`.
        init?(_ key: JSON) {
            guard var members = key.object, let id = members["kid"]?.string, !id.isEmpty else {
                return nil
            }
            // Apps write for what else they have the key.
            members["use"] = nil
            members["key_ops"] = nil
            guard let verifier = try? VerificationKey(jwk: .object(members)) else { return nil }
            self.id = id
            self.verifier = verifier
            let names = ["kty", "crv", "x", "y", "n", "e", "kid"]
            kept = .object(members.filter { names.contains($0.key) })
        }
    }
}

extension RealmContext {
    /// What is in an assertion that is encrypted to the realm (`JWE`), or the text itself
    /// where it is not encrypted. Nil for what the realm's keys do not open.
    func opened(_ text: String) async throws(Problem) -> String? {
        let dots = text.utf8.filter { $0 == UInt8(ascii: ".") }.count
        guard dots == 4 else { return text }
        guard text.utf8.count <= 2 * JWE.longestPlaintext else { return nil }
        let keys = try await reading { () throws(LogFailure) in
            try await self.keys.encryptionKeys(of: place.realm).keys
        }
        // Apps do not all say that it is a token that they encrypted.
        guard let opened = try? JWE.decrypt(text, by: keys),
            opened.contentType.map({ ["JWT", "jwt"].contains($0) }) ?? true
        else { return nil }
        return String(validating: opened.plaintext, as: UTF8.self)
    }
}

extension TokenMint {
    /// The stream of a device that goes by a key of its own: no other app comes to have it by the name alone.
    func federatedDevice(_ name: String, key: String) -> UUID {
        .v8(derive(.federatedDevice, [0xFF] + Array("\(name.utf8.count) \(name) \(key)".utf8)))
    }

    /// An assertion of an app's own key is good once: the session that it opens has the name that follows from it.
    func session(ofSigned assertion: AppAssertion) -> UUID {
        .v8(derive(.federatedProof, assertion.signed))
    }

    func stream(of assertion: AppAssertion) -> UUID {
        .v8(derive(.federatedAssertion, assertion.signed))
    }
}
