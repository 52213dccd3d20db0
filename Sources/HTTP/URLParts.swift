/// An absolute URL in its parts (RFC 3986), read more strictly than browsers do: what two readers
/// could take apart differently is refused. Compare redirect URIs as text; ask here what they are.
public struct URLParts: Hashable, Sendable {
    /// The scheme in lower case.
    public let scheme: String
    /// Something stands before an `@` in the authority, be it empty.
    public let hasUserInfo: Bool
    /// In lower case, IPv6 without its brackets; nil when there is no `//`, as in
    /// `com.example.app:/callback`.
    public let host: String?
    /// The host, when it is an address.
    public let address: IPAddress?
    /// The port, only when it is given.
    public let port: UInt16?
    /// The path as it was given, with its escapes.
    public let path: String
    /// As it was given; nil without a question mark.
    public let query: String?
    /// The fragment as it was given; nil without a number sign.
    public let fragment: String?

    /// The port that a client will call: the given one or the scheme's own.
    public var effectivePort: UInt16? {
        if let port { return port }
        return switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }

    /// The path in the one spelling of all that are equivalent (RFC 3986 sections 6.2.2 and 6.2.3):
    /// escapes in capitals, and none of what needs none. Dots stay: not all who read them agree.
    public var normalPath: String {
        guard host == nil || !path.isEmpty else { return "/" }
        return Percent.normal(path)
    }

    /// The host is a loopback address; a name such as `localhost` is none (RFC 8252 section 8.3).
    public var isLoopback: Bool { address?.isLoopback ?? false }

    /// Nil for anything but an absolute URL of printable ASCII with whole escapes. A host must be
    /// an IP address or a name of letters, digits, `-` and `_`; `http` and `https` must have one.
    public static func parse(_ text: String, maximumBytes: Int = 8192) -> URLParts? {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumBytes, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let scheme = scheme(bytes[..<colon])
        else { return nil }
        var rest = bytes[(colon + 1)...]
        let fragment = cut(&rest, at: UInt8(ascii: "#"))
        let query = cut(&rest, at: UInt8(ascii: "?"))
        var authority: Authority?
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            guard let found = Authority(rest[..<end]) else { return nil }
            authority = found
            rest = rest[end...]
        }
        let needsHost = scheme == "http" || scheme == "https"
        guard authority != nil || !needsHost, isPath(rest),
            query.map(isQuery) ?? true, fragment.map(isQuery) ?? true
        else { return nil }
        return URLParts(
            scheme: scheme, hasUserInfo: authority?.hasUserInfo ?? false, host: authority?.host,
            address: authority?.address, port: authority?.port,
            path: String(decoding: rest, as: UTF8.self),
            query: query.map { String(decoding: $0, as: UTF8.self) },
            fragment: fragment.map { String(decoding: $0, as: UTF8.self) })
    }

    private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first, isLetter(first),
            bytes.allSatisfy({
                isLetter($0) || isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
            })
        else { return nil }
        return String(decoding: bytes.map(lowercased), as: UTF8.self)
    }

    /// Takes away all from the first delimiter on, and returns what stood behind it.
    private static func cut(_ rest: inout ArraySlice<UInt8>, at delimiter: UInt8)
        -> ArraySlice<UInt8>?
    {
        guard let place = rest.firstIndex(of: delimiter) else { return nil }
        defer { rest = rest[..<place] }
        return rest[(place + 1)...]
    }

    private static func isPath(_ bytes: ArraySlice<UInt8>) -> Bool {
        isEscapedText(bytes) { isPathCharacter($0) || $0 == UInt8(ascii: "/") }
    }

    private static func isQuery(_ bytes: ArraySlice<UInt8>) -> Bool {
        isEscapedText(bytes) {
            isPathCharacter($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
        }
    }

    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || isSubDelimiter(byte) || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: "@")
    }
}

/// Every byte is allowed by the rule or part of a whole escape.
func isEscapedText(_ bytes: ArraySlice<UInt8>, _ isAllowed: (UInt8) -> Bool) -> Bool {
    var index = bytes.startIndex
    while index < bytes.endIndex {
        if bytes[index] == UInt8(ascii: "%") {
            guard bytes.endIndex - index >= 3, hexValue(bytes[index + 1]) != nil,
                hexValue(bytes[index + 2]) != nil
            else { return false }
            index += 3
        } else {
            guard isAllowed(bytes[index]) else { return false }
            index += 1
        }
    }
    return true
}
