public import JSON
internal import Values

/// What `PublicKeyCredential.toJSON()` gives in the browser, read strictly, with the names of its
/// members in any case of letters, as the clients write that we are compatible with.
public enum PublicKeyCredential {
    /// Section 5.1: longer ids are refused.
    public static let longestID = 1023
    static let textLimit = 131_072

    /// The answer to `navigator.credentials.create()`.
    public struct Attestation: Sendable, Hashable {
        public let id: [UInt8]
        let clientDataJSON: [UInt8]
        let attestationObject: [UInt8]
        public let transports: [String]

        public init(_ json: JSON) throws(WebAuthnFailure) {
            let (id, response) = try PublicKeyCredential.envelope(json)
            self.id = id
            clientDataJSON = try response.bytes(.clientDataJSON)
            attestationObject = try response.bytes(.attestationObject)
            transports = try response.transports()
        }

        public init(text: [UInt8]) throws(WebAuthnFailure) {
            try self.init(PublicKeyCredential.parse(text))
        }
    }

    /// The answer to `navigator.credentials.get()`.
    public struct Assertion: Sendable, Hashable {
        /// Says which stored credential to verify with.
        public let id: [UInt8]
        let clientDataJSON: [UInt8]
        let authenticatorData: [UInt8]
        let signature: [UInt8]
        /// Whose credential this is, if the authenticator knows.
        public let userHandle: [UInt8]?

        public init(_ json: JSON) throws(WebAuthnFailure) {
            let (id, response) = try PublicKeyCredential.envelope(json)
            self.id = id
            clientDataJSON = try response.bytes(.clientDataJSON)
            authenticatorData = try response.bytes(.authenticatorData)
            signature = try response.bytes(.signature)
            userHandle = try response.has(.userHandle) ? response.bytes(.userHandle) : nil
        }

        public init(text: [UInt8]) throws(WebAuthnFailure) {
            try self.init(PublicKeyCredential.parse(text))
        }
    }

    private static func parse(_ text: [UInt8]) throws(WebAuthnFailure) -> JSON {
        let limits = JSON.Limits(depth: 16, size: textLimit)
        guard let json = try? JSON.parse(text, limits: limits) else { throw .credentialMalformed }
        return json
    }

    private static func envelope(
        _ json: JSON
    ) throws(WebAuthnFailure) -> (id: [UInt8], response: Members) {
        guard let members = Members(json) else { throw .credentialMalformed }
        let id = try members.bytes(.id)
        let rawID = try members.bytes(.rawId)
        guard try members.text(.type).utf8.elementsEqual("public-key".utf8) else {
            throw .typeIsNotPublicKey
        }
        guard id == rawID else { throw .idsDiffer }
        guard id.count <= longestID else { throw .credentialIDMalformed }
        guard let value = try members.value(.response) else {
            throw .credentialMember(.response, .missing)
        }
        guard let response = Members(value) else {
            throw .credentialMember(.response, .wrongType)
        }
        return (id, response)
    }
}

/// Members of an object by their names in lower case. A name that stands there in two spellings is
/// refused when it is asked for: two readers could see two values.
private struct Members {
    typealias Name = WebAuthnFailure.CredentialMember

    private let object: JSONObject

    init?(_ json: JSON) {
        guard let object = json.object else { return nil }
        self.object = object
    }

    /// Ignores the case of letters. ASCII alone: others have lower cases that surprise.
    private static func isSame(_ name: String, _ other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ letter: UInt8) -> UInt8 {
        (0x41...0x5A).contains(letter) ? letter + 32 : letter
    }

    /// A null is as good as nothing.
    func value(_ name: Name) throws(WebAuthnFailure) -> JSON? {
        var found: JSON?
        for (own, value) in object where Members.isSame(own, name.rawValue) {
            guard found == nil else { throw .credentialMember(name, .malformed) }
            found = value
        }
        return found.flatMap { $0.isNull ? nil : $0 }
    }

    func has(_ name: Name) throws(WebAuthnFailure) -> Bool { try value(name) != nil }

    func text(_ name: Name) throws(WebAuthnFailure) -> String {
        guard let value = try value(name) else { throw .credentialMember(name, .missing) }
        guard let text = value.string else { throw .credentialMember(name, .wrongType) }
        guard !text.isEmpty else { throw .credentialMember(name, .empty) }
        return text
    }

    /// In base 64 for URLs, without padding.
    func bytes(_ name: Name) throws(WebAuthnFailure) -> [UInt8] {
        let text = try text(name)
        guard text.utf8.count <= PublicKeyCredential.textLimit else {
            throw .credentialMember(name, .tooLong)
        }
        guard let bytes = Base64URL.decode(text) else { throw .credentialMember(name, .malformed) }
        return bytes
    }

    /// Words that the registration keeps to give them back later; unknown ones among them.
    func transports() throws(WebAuthnFailure) -> [String] {
        guard let value = try value(.transports) else { return [] }
        guard let elements = value.array else { throw .credentialMember(.transports, .wrongType) }
        guard elements.count <= 16 else { throw .credentialMember(.transports, .tooLong) }
        var words: Set<String> = []
        for element in elements {
            guard let word = element.string else {
                throw .credentialMember(.transports, .wrongType)
            }
            guard (1...32).contains(word.utf8.count),
                word.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") })
            else { throw .credentialMember(.transports, .malformed) }
            words.insert(word)
        }
        return words.sorted()
    }
}
