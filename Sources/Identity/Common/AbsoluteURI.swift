internal import Values

/// An absolute URI (RFC 3986), taken apart as far as it takes to judge it.
///
/// It is strict where readers of URIs are known to disagree: printable ASCII only, no backslash, no
/// broken escape, no dot segment. What passes means the same to a browser, a proxy and to us.
struct AbsoluteURI {
    /// The scheme in lower case.
    let scheme: String
    let hasUserInfo: Bool
    /// Nil where there is no authority, as in `com.example.app:/back`.
    let host: String?
    let port: UInt16?
    let path: String
    let hasQuery: Bool
    let hasFragment: Bool

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard Self.isWellSpelled(bytes), let colon = bytes.firstIndex(of: 0x3A),
            Self.isScheme(bytes[..<colon])
        else { return nil }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()

        var rest = bytes[(colon + 1)...]
        hasFragment = rest.contains(0x23)
        rest = rest.prefix { $0 != 0x23 }
        hasQuery = rest.contains(0x3F)
        rest = rest.prefix { $0 != 0x3F }

        guard rest.starts(with: [0x2F, 0x2F]) else {
            (hasUserInfo, host, port) = (false, nil, nil)
            path = String(decoding: rest, as: UTF8.self)
            guard !rest.isEmpty, !Self.hasDotSegment(rest) else { return nil }
            return
        }
        let authority = rest.dropFirst(2).prefix { $0 != 0x2F }
        let pathBytes = rest.dropFirst(2 + authority.count)
        hasUserInfo = authority.contains(0x40)
        guard let end = Self.endpoint(authority), !Self.hasDotSegment(pathBytes) else { return nil }
        (host, port) = end
        path = String(decoding: pathBytes, as: UTF8.self)
    }

    /// `%00` to `%1f`, and `%7f`: no place needs one, and what splits lines at them is led astray.
    static func hasEscapedControl(_ text: String) -> Bool {
        guard text.utf8.contains(0x25) else { return false }
        let bytes = Array(text.utf8)
        return bytes.indices.contains { index in
            guard bytes[index] == 0x25, index + 2 < bytes.count else { return false }
            let (high, low) = (bytes[index + 1], bytes[index + 2] | 0x20)
            return high == 0x30 || high == 0x31 || high == 0x37 && low == 0x66
        }
    }

    /// The app's own machine, where plain http cannot be overheard.
    var isLoopback: Bool {
        host == "127.0.0.1" || host == "[::1]" || host == "localhost"
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, TextRule.isLetter(first) else { return false }
        return bytes.allSatisfy {
            TextRule.isLetter($0) || TextRule.isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0)
        }
    }

    private static let allowed = ASCIISet("-._~:/?#[]@!$&'()*+,;=%")

    private static func isWellSpelled(_ bytes: [UInt8]) -> Bool {
        for (index, byte) in bytes.enumerated() {
            guard TextRule.isLetter(byte) || TextRule.isDigit(byte) || allowed.contains(byte) else {
                return false
            }
            if byte == 0x25 {
                let digits = bytes.dropFirst(index + 1).prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexDigit) else { return false }
            }
        }
        return bytes.count(where: { $0 == 0x23 }) <= 1
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        TextRule.isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// `.` and `..`, escaped or not: browsers resolve them, a comparison of text does not.
    private static func hasDotSegment(_ path: ArraySlice<UInt8>) -> Bool {
        path.split(separator: 0x2F).contains { segment in
            let text = String(decoding: segment, as: UTF8.self).lowercased()
            return [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains(text)
        }
    }

    /// Host and port of an authority, user info left out. Nil where either is not well-formed.
    private static func endpoint(_ authority: ArraySlice<UInt8>) -> (String, UInt16?)? {
        let place = authority.lastIndex(of: 0x40).map { authority[($0 + 1)...] } ?? authority
        let hostBytes: ArraySlice<UInt8>
        if place.first == 0x5B {
            guard let bracket = place.firstIndex(of: 0x5D),
                place[place.startIndex + 1..<bracket].allSatisfy({ isHexDigit($0) || $0 == 0x3A }),
                bracket - place.startIndex >= 3
            else { return nil }
            hostBytes = place[...bracket]
        } else {
            hostBytes = place.prefix { $0 != 0x3A }
            guard !hostBytes.isEmpty, hostBytes.allSatisfy(TextRule.isUnreserved) else {
                return nil
            }
        }
        let host = String(decoding: hostBytes, as: UTF8.self).lowercased()
        let portBytes = place[hostBytes.endIndex...]
        guard !portBytes.isEmpty else { return (host, nil) }
        guard portBytes.first == 0x3A, let port = HostName.port(portBytes.dropFirst()) else {
            return nil
        }
        return (host, port)
    }
}
