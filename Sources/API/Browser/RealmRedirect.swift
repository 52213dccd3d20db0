internal import HTTP
internal import Identity

/// Where an owner goes on to once they are signed in: a page of this site, or a place of one of its
/// apps.
struct RealmRedirect: Sendable, Equatable {
    let text: String

    static let usual = RealmRedirect(text: "/account")
    static let longest = 4096

    private init(text: String) {
        self.text = text
    }

    /// A redirect to another origin is ignored (open redirect).
    init(_ text: String?, _ place: Place) {
        self = text.flatMap { Self.read($0, place) } ?? .usual
    }

    private static func read(_ text: String, _ place: Place) -> RealmRedirect? {
        guard text.utf8.count <= longest,
            // Browsers read a backslash as a slash, and leave out tabs and line ends.
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        // The fragment is for scripts there, and could be an attacker's words.
        let plain = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        if let path = ReturnTarget(path: plain).path { return RealmRedirect(text: path.text) }
        let own = URLParts.parse(place.issuer)
        guard let parts = URLParts.parse(plain), !parts.hasUserInfo, let host = parts.host,
            isReached(parts, by: own)
        else { return nil }
        for known in [place.host, own?.host].compactMap({ $0 }) where !known.isEmpty {
            if host == known {
                let page = parts.path + (parts.query.map { "?\($0)" } ?? "")
                return ReturnTarget(path: page).path.map { RealmRedirect(text: $0.text) }
            }
            let suffix = ".\(known)"
            if host.utf8.count > suffix.utf8.count, host.hasSuffix(suffix) {
                return RealmRedirect(text: plain)
            }
        }
        return nil
    }

    /// Whether an address has the realm's own scheme and port, or is of https without a port. At another port of
    /// the same host the server may be another program.
    private static func isReached(_ parts: URLParts, by own: URLParts?) -> Bool {
        if parts.scheme == "https", parts.port == nil { return true }
        return parts.scheme == own?.scheme && parts.effectivePort == own?.effectivePort
    }

    /// With an empty fragment, so that a browser keeps none of the page before.
    var target: String { text + "#" }
}
