/// Where an answer may be sent. It carries codes, so it must reach the client and nobody else:
/// https, the person's own machine, or a scheme that an app claims by its reversed domain.
public enum RedirectRule {
    static let limit = 2_000

    /// Whether it could be registered today.
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
        switch uri.scheme {
        case "https":
            guard uri.host != nil else { throw .malformed }
        case "http":
            guard uri.host != nil else { throw .malformed }
            guard uri.isLoopback else { throw .unsafeScheme }
        default:
            // RFC 8252 section 7.1: the dot shows a domain in reverse, which has an owner. It
            // also keeps out javascript:, data: and whatever else a browser may come to run.
            guard uri.scheme.utf8.contains(0x2E) else { throw .unsafeScheme }
        }
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
