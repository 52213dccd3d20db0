/// What kind of device a user agent speaks of, as coarsely as people speak of their devices. It is kept
/// for ever, so it must not tell one person from another.
enum DeviceKind {
    /// The first match counts: many user agents name other browsers for compatibility.
    private static let signs: [(sign: String, kind: String)] = [
        ("iphone", "iPhone"), ("ipad", "iPad"), ("ipod", "iPod"), ("android", "Android"),
        ("windows", "Windows"), ("cros ", "Chromebook"), ("macintosh", "Mac"),
        ("mac os x", "Mac"), ("macos", "Mac"), ("linux", "Linux"),
        // An app of Apple's devices that does not say which.
        ("darwin/", "Apple"), ("okhttp/", "Android"), ("curl/", "curl"),
    ]

    /// All device kinds, each once, sorted.
    static let all: [String] = Set(signs.map(\.kind)).sorted()

    /// Nil without a user agent, or for an unknown one.
    static func of(userAgent: String?) -> String? {
        guard let userAgent else { return nil }
        // Longer ones say no more, and reading them would cost.
        let text = userAgent.utf8.prefix(512).map { byte in
            (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
        }
        return signs.first { contains($0.sign, text) }?.kind
    }

    private static func contains(_ sign: String, _ text: [UInt8]) -> Bool {
        let sign = Array(sign.utf8)
        guard sign.count <= text.count else { return false }
        return (0...(text.count - sign.count)).contains { start in
            text[start..<(start + sign.count)].elementsEqual(sign)
        }
    }
}
