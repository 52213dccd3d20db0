/// Where an answer may be sent. It carries codes, so it must reach the client alone: https, the
/// person's own machine, or a scheme that an app claims by its reversed domain.
public enum RedirectRule {
    static let limit = 2_000

    /// Whether the URI passes the rule of today's registrations.
    public static func isSafe(_ text: String) -> Bool {
        do throws(FieldFault.Reason) {
            try check(text)
            return true
        } catch {
            return false
        }
    }

    @Sendable static func check(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        guard let uri = AbsoluteURI(text) else { throw .malformed }
        guard !uri.hasFragment else { throw .hasFragment }
        guard !uri.hasUserInfo else { throw .hasUserInfo }
        guard !AbsoluteURI.hasEscapedControl(text) else { throw .hasControl }
        switch uri.scheme {
        case "https":
            guard let host = uri.host else { throw .malformed }
            guard WebHost.canBe(host) else { throw .impossibleHost }
        case "http":
            guard uri.host != nil else { throw .malformed }
            guard uri.isLoopback else { throw .unsafeScheme }
        default:
            // RFC 8252 section 7.1: the dot shows a domain in reverse, which has an owner. It also
            // keeps out javascript:, data: and any scheme that a browser may come to run.
            guard uri.scheme.utf8.contains(0x2E) else { throw .unsafeScheme }
        }
    }

    /// Where an installation waits for its answers. It has a secret, and its codes are good with it only:
    /// a scheme without a dot, as apps of the flagship profile have one, need not be its own.
    @Sendable static func checkInstallation(_ text: String) throws(FieldFault.Reason) {
        let scheme = text.utf8.prefix { $0 != 0x3A }
        let isOwn =
            scheme.first.map { isLetter($0) } ?? false
            && scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
            && text.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        guard isOwn, !["https", "http"].contains(name) else { return try check(text) }
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x3C })
        else {
            throw .malformed
        }
        guard !text.utf8.contains(0x23) else { throw .hasFragment }
        guard !AbsoluteURI.hasEscapedControl(text) else { throw .hasControl }
        guard !runByBrowsers.contains(name) else { throw .unsafeScheme }
    }

    static let runByBrowsers: Set<String> = [
        "javascript", "data", "vbscript", "file", "about", "blob", "ftp", "view-source",
    ]

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Whether an answer may go there: to a place that was registered, byte for byte. Only the port of
    /// a loopback address is free, since an app takes whichever it gets (RFC 8252 section 7.3); that of
    /// `localhost`, a name that may lead elsewhere, is not.
    public static func leads(_ asked: String, to registered: [String]) -> Bool {
        registered.contains { known in
            if asked.utf8.elementsEqual(known.utf8) { return true }
            guard let place = withoutPort(asked), let other = withoutPort(known) else {
                return false
            }
            return place == other
        }
    }

    /// The text of an address at `http://127.0.0.1` or `http://[::1]` without its port.
    private static func withoutPort(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= limit, AbsoluteURI(text) != nil else { return nil }
        for origin in ["http://127.0.0.1", "http://[::1]"]
        where text.utf8.starts(with: origin.utf8) {
            var rest = text.dropFirst(origin.count)
            if rest.utf8.first == 0x3A {
                rest = rest.dropFirst().drop { $0.isASCII && $0.isNumber }
            }
            guard rest.isEmpty || rest.utf8.first == 0x2F || rest.utf8.first == 0x3F else {
                return nil
            }
            return Array(origin.utf8) + Array(rest.utf8)
        }
        return nil
    }
}
