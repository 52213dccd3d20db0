/// How an HTTP client calls others.
public struct Configuration: Sendable {
    /// As many requests are under way at once.
    public var threads = 4
    /// As many wait for a thread; further ones are refused.
    public var maximumWaiting = 256
    /// Finding the host, connecting and TLS.
    public var connectTimeout: Duration = .seconds(5)
    /// From the call to the last byte of the response, waiting for a thread included.
    public var timeout: Duration = .seconds(15)
    /// Of a response's body.
    public var maximumBodyBytes = 1024 * 1024
    /// Whether a longer body is cut off, and the response taken without the rest of it.
    public var cutsBodies = false
    /// Followed for GET and HEAD only, never from https to http. The same headers go to the next
    /// place, but for `Authorization` and `Cookie`, which stay with their host.
    public var maximumRedirects = 0
    /// Who takes addresses from strangers says `publicOnly`.
    public var destinations: Destinations = .any
    /// Certificates in PEM that are trusted beside the system's.
    public var caFile: String?
    /// `http://host:port`; the environment is never asked. Together with `publicOnly` it is
    /// refused: behind a proxy this process cannot see which address is called.
    public var proxy: String?
    /// Unencrypted HTTP may be called as well.
    public var allowsHTTP = true
    /// HTTP/2 is offered to hosts with TLS.
    public var allowsHTTP2 = false
    public var userAgent = ""

    public init() {}

    /// What cannot work, in the words of the person who set it.
    var fault: String? {
        if threads < 1 || threads > 256 { return "threads must be 1 to 256" }
        if maximumWaiting < 1 { return "maximumWaiting must be 1 or more" }
        if min(connectTimeout, timeout) <= .zero { return "timeouts must be longer than nothing" }
        if maximumBodyBytes < 0 { return "maximumBodyBytes must not be negative" }
        if !(0...20).contains(maximumRedirects) { return "maximumRedirects must be 0 to 20" }
        if proxy != nil, case .publicOnly = destinations {
            return "a proxy hides which address is called: it does not go with publicOnly"
        }
        let texts = [caFile, proxy, userAgent].compactMap { $0 }
        if texts.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) {
            return "control characters"
        }
        return nil
    }
}

extension Duration {
    /// Whole milliseconds, at least one; capped at a day.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 86_400 else { return 86_400_000 }
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
