internal import Cryptography
internal import JOSE
internal import JSON
internal import Values

/// A JWT that is signed by a shared key (HS256), as clients of the profile make them: times that may be texts, and either
/// alphabet of Base64. It is parsed, and its signature is not verified yet.
struct SharedKeyToken {
    let keyID: String?
    let members: JSONObject
    /// The signed bytes. A JWT that is good once is known by this: its signature could be spelt in another way.
    let signed: [UInt8]
    private let signature: [UInt8]

    private static let longest = 8 * 1024

    /// What clients sign for their requests: their libraries write `JWT`, or nothing.
    static let ofClients = TokenTypes(["JWT"], mayBeAbsent: true)
    /// What is signed here for a service.
    static let assertion = TokenTypes([JWTType.federationAssertion.rawValue])

    init?(_ text: String, types: TokenTypes = ofClients) {
        guard text.utf8.count <= Self.longest else { return nil }
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Self.object(parts[0]), header["alg"]?.string == "HS256",
            types.accepts(member: header["typ"]),
            // What changes the meaning of the message would have to be understood.
            ["crit", "b64", "enc", "zip"].allSatisfy({ header[$0] == nil }),
            let members = Self.object(parts[1]), let signature = Self.bytes(parts[2])
        else { return nil }
        keyID = header["kid"]?.string
        self.members = members
        self.signature = signature
        signed = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func object(_ part: Substring) -> JSONObject? {
        bytes(part).flatMap(ClaimsText.parse)
    }

    /// Some apps write the alphabet of RFC 4648 section 4, without its padding. The signature covers the text as
    /// it was sent.
    private static func bytes(_ part: Substring) -> [UInt8]? {
        let isPlain = part.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        guard isPlain else { return Base64URL.decode(String(part)) }
        guard !part.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        return Base64URL.decode(
            String(part.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }))
    }

    func isSigned(by key: String) -> Bool {
        HMACKey(Array(key.utf8)).isValid(signature, for: signed)
    }

    func text(_ name: String) -> String? {
        guard let text = members[name]?.string, !text.isEmpty, text.utf8.count <= 1024 else {
            return nil
        }
        return text
    }

    /// A number, or the text of one: clients write either.
    func integer(_ name: String) -> Int64? {
        guard let value = members[name] else { return nil }
        return value.integer ?? value.string.flatMap { Int64($0) }
    }

    /// Whether the audience is one of these, and nothing else.
    func isFor(_ readers: Set<String>) -> Bool {
        if let text = members["aud"]?.string { return readers.contains(text) }
        guard let list = members["aud"]?.array, list.count == 1, let text = list[0].string else {
            return false
        }
        return readers.contains(text)
    }

    private func hasBegun(at latest: Int64) -> Bool {
        guard members["nbf"] != nil else { return true }
        guard let start = integer("nbf") else { return false }
        return start <= latest
    }

    /// Whether it says neither which request it is nor when it was made.
    var isUntimed: Bool { members["iat"] == nil && members["seq"] == nil }

    /// Tells apart what a key has signed: it follows from the signature, so that no other spelling is another one.
    ///
    /// - Parameter request: what it is good once with, where it may be good with several.
    func digest(with request: [UInt8]) -> [UInt8] { SHA256.hash(signature + request) }

    /// Whether the token is valid at a time: `nbf`, `iat` and `exp`, where it has them.
    func isOpen(at now: Timestamp, within leeway: Int64) -> Bool {
        guard hasBegun(at: now.seconds + leeway) else { return false }
        guard members["exp"] != nil else { return true }
        return integer("exp").map { now.seconds < $0 } ?? false
    }

    /// Whether it is good at a time: of now, and not over. An end that is far away ends nothing later than the
    /// leeway does, counted from `iat`.
    func isTimely(at now: Timestamp, within leeway: Int64) -> Bool {
        guard let issued = integer("iat"), now.seconds - leeway <= issued,
            issued <= now.seconds + leeway, hasBegun(at: now.seconds + leeway)
        else { return false }
        guard members["exp"] != nil else { return true }
        guard let end = integer("exp") else { return false }
        return now.seconds < end && issued <= end
    }
}
