internal import Values

/// Where a tenant of the verify profile may have people sent, and which pages may show the realm's pages in a
/// frame: a list that is closed by default, and open for the person's own machine.
///
/// An entry is a whole address; an origin, which stands for all addresses of it; a scheme such as `shop://` or
/// `com.example.shop:`, with or without a host; or `*` for all of these.
public struct TenantPlace: Sendable, Equatable {
    private let text: String
    private let scheme: String
    /// Of `https`, and of `http` on the person's own machine.
    private let origin: String?
    /// The scheme of an app has no path, or this host and no path.
    private let host: Substring?
    private let isWhole: Bool
    public let isLoopback: Bool

    static let all = "*"

    /// A place with more in its query: also one of a scheme without a slash.
    public static func adding(_ query: String, to place: String) -> String {
        guard place.utf8.contains(0x3F) else { return place + "?" + query }
        return place + (place.utf8.last == 0x3F ? "" : "&") + query
    }

    /// Nil where no browser should be sent there, and no tenant can have it listed.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count <= RedirectRule.limit, let colon = text.firstIndex(of: ":"),
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && !Self.forbidden.contains($0) }),
            !AbsoluteURI.hasEscapedControl(text)
        else { return nil }
        self.text = text
        scheme = text[..<colon].lowercased()
        guard Self.isScheme(scheme), !RedirectRule.runByBrowsers.contains(scheme) else {
            return nil
        }
        let rest = text[text.index(after: colon)...]
        guard scheme == "https" || scheme == "http" else {
            (origin, isLoopback) = (nil, false)
            if rest.utf8.starts(with: "//".utf8) {
                let authority = rest.dropFirst(2)
                host = authority.prefix { $0 != "/" && $0 != "?" }
                isWhole = host?.endIndex != rest.endIndex
                // A name for all hosts is meant where it stands.
                guard host?.utf8.contains(where: { $0 == 0x40 || $0 == 0x2A }) == false else {
                    return nil
                }
            } else {
                (host, isWhole) = (nil, !rest.isEmpty)
            }
            return
        }
        guard let uri = AbsoluteURI(text), let name = uri.host, !uri.hasUserInfo,
            uri.isLoopback || scheme == "https" && WebHost.canBe(name)
        else { return nil }
        let usual: UInt16 = scheme == "https" ? 443 : 80
        origin = "\(scheme)://\(name.lowercased()):\(uri.port ?? usual)"
        isLoopback = uri.isLoopback
        host = nil
        isWhole = !(uri.path.isEmpty || uri.path == "/") || uri.hasQuery
    }

    @Sendable static func check(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= RedirectRule.limit else {
            throw .tooLong(limit: RedirectRule.limit)
        }
        guard text == all || TenantPlace(text) != nil else { throw .malformed }
    }

    /// Whether people may be sent there with a code.
    public func isAllowed(by entries: [String]) -> Bool {
        isLoopback || entries.contains { $0 == Self.all || TenantPlace($0)?.covers(self) == true }
    }

    /// The origin as browsers say it. Nil of the scheme of an app.
    public var webOrigin: String? {
        guard let origin else { return nil }
        for usual in ["https:443", "http:80"] {
            let parts = usual.split(separator: ":")
            if scheme == parts[0], origin.hasSuffix(":\(parts[1])") {
                return String(origin.dropLast(parts[1].count + 1))
            }
        }
        return origin
    }

    /// Whether pages of this origin may show the realm's pages in a frame, and read its answers.
    public func isAllowedOrigin(by entries: [String]) -> Bool {
        guard let origin, !isWhole else { return false }
        return isLoopback
            || entries.contains { $0 == Self.all || TenantPlace($0)?.origin == origin }
    }

    private func covers(_ place: TenantPlace) -> Bool {
        if text.utf8.elementsEqual(place.text.utf8) { return true }
        guard !isWhole, scheme == place.scheme else { return false }
        if origin != nil { return origin == place.origin }
        return host?.isEmpty != false || host == place.host
    }

    /// What ends an attribute or a header, begins a fragment, or is a slash to some browsers.
    private static let forbidden = ASCIISet("\\\"<>^`{|}#")

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
                || [0x2B, 0x2D, 0x2E].contains($0)
        }
    }
}
