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

    /// What leads anywhere else counts for nothing.
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
        guard let parts = URLParts.parse(plain), parts.scheme == "https", !parts.hasUserInfo,
            parts.port == nil, let host = parts.host
        else { return nil }
        let suffix = ".\(place.host)"
        guard host.utf8.count > suffix.utf8.count, host.hasSuffix(suffix) else {
            let base = "https://\(place.host)"
            guard host == place.host, plain.utf8.starts(with: base.utf8) else { return nil }
            let rest = String(decoding: plain.utf8.dropFirst(base.utf8.count), as: UTF8.self)
            return ReturnTarget(path: rest).path.map { RealmRedirect(text: $0.text) }
        }
        return RealmRedirect(text: plain)
    }

    /// With an empty fragment, so that a browser keeps none of the page before.
    var target: String { text + "#" }
}
