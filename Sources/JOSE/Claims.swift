public import JSON
public import Values

/// What a token says, once its signature was checked: the registered claims in their own types, so
/// that one with a wrong shape is found here and not where it is used.
public struct Claims: Sendable, Hashable {
    public let members: JSONObject
    public let issuer: String?
    public let subject: String?
    /// Nil without `aud`; one or more otherwise.
    public let audience: [String]?
    public let expiresAt: Timestamp?
    public let notBefore: Timestamp?
    public let issuedAt: Timestamp?
    public let id: String?

    public init(payload: [UInt8]) throws(TokenRejection) {
        guard let members = ClaimsText.parse(payload) else { throw .malformed }
        self.members = members
        issuer = try Self.text(.issuer, of: members)
        subject = try Self.text(.subject, of: members)
        id = try Self.text(.id, of: members)
        expiresAt = try Self.instant(.expiresAt, of: members)
        notBefore = try Self.instant(.notBefore, of: members)
        issuedAt = try Self.instant(.issuedAt, of: members)
        audience = try Self.texts(.audience, of: members, mayBePlain: true)
        guard audience?.isEmpty != true else { throw .malformedClaim(.audience) }
    }

    /// A claim that is no text, or an empty one, is refused as a whole: JSON's `null` too.
    public func text(_ name: ClaimName) throws(TokenRejection) -> String? {
        try Self.text(name, of: members)
    }

    public func instant(_ name: ClaimName) throws(TokenRejection) -> Timestamp? {
        try Self.instant(name, of: members)
    }

    public func texts(_ name: ClaimName) throws(TokenRejection) -> [String]? {
        try Self.texts(name, of: members, mayBePlain: false)
    }

    func need<Value>(_ name: ClaimName, _ value: Value?) throws(TokenRejection) -> Value {
        guard let value else { throw .missing(name) }
        return value
    }

    /// What is left beside the claims with these names.
    func others(than names: [ClaimName]) -> JSONObject {
        var others = members
        for name in names { others[name.rawValue] = nil }
        return others
    }

    private static func text(
        _ name: ClaimName, of members: JSONObject
    ) throws(TokenRejection) -> String? {
        guard let value = members[name.rawValue] else { return nil }
        guard let text = value.string, !text.isEmpty else { throw .malformedClaim(name) }
        return text
    }

    private static func instant(
        _ name: ClaimName, of members: JSONObject
    ) throws(TokenRejection) -> Timestamp? {
        guard let value = members[name.rawValue] else { return nil }
        guard let seconds = value.integer else { throw .malformedClaim(name) }
        return Timestamp(seconds: seconds)
    }

    private static func texts(
        _ name: ClaimName, of members: JSONObject, mayBePlain: Bool
    ) throws(TokenRejection) -> [String]? {
        guard let value = members[name.rawValue] else { return nil }
        if mayBePlain, let text = value.string { return text.isEmpty ? [] : [text] }
        guard let values = value.array else { throw .malformedClaim(name) }
        var texts: [String] = []
        for value in values {
            guard let text = value.string, !text.isEmpty else { throw .malformedClaim(name) }
            texts.append(text)
        }
        return texts
    }
}
