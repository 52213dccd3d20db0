internal import HTTP
internal import Values

extension Request {
    /// Whether a page of this very site sent it, as far as the browser says. What says nothing is
    /// left to the token.
    func isSent(fromPagesOf host: String) -> Bool {
        let sites = headers.all("Sec-Fetch-Site")
        guard sites.allSatisfy({ $0 == "same-origin" }) else { return false }
        let origins = headers.all("Origin")
        return origins.count <= 1
            && origins.allSatisfy { URLParts.parse($0).map { Self.host(of: $0) == host } ?? false }
    }

    private static func host(of parts: URLParts) -> String? {
        parts.address.map { $0.isIPv6 ? "[\($0)]" : "\($0)" } ?? parts.host
    }
}
