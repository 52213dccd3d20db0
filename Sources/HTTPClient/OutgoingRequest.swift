public import HTTP

/// A request to another server: method, address, headers and body.
public struct OutgoingRequest: Sendable {
    public var method: HTTP.Method
    /// An absolute URL of http or https. A user name in it is refused; a fragment stays here.
    public var url: String
    /// `Host` and what frames the message are not the caller's to set.
    public var headers: Headers
    /// Nil sends none; GET and HEAD never have one.
    public var body: [UInt8]?
    /// Shorter than the client's own.
    public var timeout: Duration?
    /// The request must not arrive twice, and carries no id by which its receiver could tell a repetition. libcurl sends a
    /// request again where the server closes a kept connection without an answer: this one gets a new connection.
    public var isSentOnce = false

    public init(
        method: HTTP.Method = .get, url: String, headers: Headers = [:], body: [UInt8]? = nil,
        timeout: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// A request that was found fit to be sent.
struct CheckedRequest: Sendable {
    let method: HTTP.Method
    let url: String
    let isEncrypted: Bool
    let headerLines: [String]
    let body: [UInt8]?
    let isSentOnce: Bool

    init(_ request: OutgoingRequest, allowsHTTP: Bool) throws(Failure) {
        // The URL is put together again from its parts, so that libcurl reads what was looked at.
        guard let parts = URLParts.parse(request.url), let host = parts.host,
            parts.scheme == "https" || parts.scheme == "http" && allowsHTTP, !parts.hasUserInfo
        else { throw Failure(.invalidRequest, "the URL") }
        var url = parts.scheme + "://" + (parts.address?.isIPv6 == true ? "[\(host)]" : host)
        if let port = parts.port { url += ":\(port)" }
        url += parts.path.isEmpty ? "/" : parts.path
        if let query = parts.query { url += "?" + query }
        self.url = url
        isEncrypted = parts.scheme == "https"
        method = request.method
        isSentOnce = request.isSentOnce
        switch request.method {
        case .get, .head:
            guard request.body == nil else { throw Failure(.invalidRequest, "a body") }
            body = nil
        case .post, .put, .patch: body = request.body ?? []
        case .delete, .options: body = request.body
        }
        headerLines = try CheckedRequest.lines(request.headers)
    }

    private static let ownedByClient = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te",
        "trailer", "keep-alive", "proxy-connection", "proxy-authorization",
    ]

    /// In libcurl's form: a name alone takes away a header that libcurl would add, a name with a
    /// semicolon sends one without a value.
    private static func lines(_ headers: Headers) throws(Failure) -> [String] {
        for name in ownedByClient where headers[name] != nil {
            throw Failure(.invalidRequest, "the header \(name)")
        }
        var lines: [String] = []
        lines.reserveCapacity(headers.count + 3)
        for (name, value) in headers {
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        for name in ["Accept", "Content-Type", "Expect"] where headers[name] == nil {
            lines.append("\(name):")
        }
        return lines
    }
}
