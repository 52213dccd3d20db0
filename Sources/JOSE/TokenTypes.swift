public import JSON

/// The values of `typ` that one use of a token accepts (RFC 8725 section 3.11): what was signed for
/// one purpose must not serve another.
public struct TokenTypes: Sendable, Hashable {
    let names: Set<String>
    let mayBeAbsent: Bool

    public init(_ names: Set<String>, mayBeAbsent: Bool = false) {
        self.names = Set(names.map(TokenTypes.plain))
        self.mayBeAbsent = mayBeAbsent
    }

    /// RFC 9068 section 4.
    public static let accessToken = TokenTypes([JWTType.accessToken.rawValue])
    /// Of other providers: OpenID Connect defines none, and its libraries write `JWT` or nothing.
    public static let idToken = TokenTypes(["JWT"], mayBeAbsent: true)
    /// Of our own, which come back as hints.
    public static let ownIDToken = TokenTypes([JWTType.idToken.rawValue])
    /// RFC 7523 defines none; its successor will name the first.
    public static let clientAssertion = TokenTypes(
        ["client-authentication+jwt", "JWT"], mayBeAbsent: true)

    /// A member `typ` of a header; one that is no text is of no kind.
    public func accepts(member: JSON?) -> Bool {
        guard let member else { return mayBeAbsent }
        return member.string.map { accepts($0) } ?? false
    }

    func accepts(_ type: String?) -> Bool {
        guard let type else { return mayBeAbsent }
        let plain = TokenTypes.plain(type)
        return names.contains { $0.hasSameBytes(as: plain) }
    }

    /// Media types have no case, and `application/` may be left out (RFC 7515 section 4.1.9).
    private static func plain(_ type: String) -> String {
        let lowered = type.asciiLowercased
        let prefix = "application/"
        guard lowered.utf8.starts(with: prefix.utf8) else { return lowered }
        let rest = String(decoding: lowered.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        return rest.utf8.contains(UInt8(ascii: "/")) ? lowered : rest
    }
}
