internal import HTTP

/// What the server itself says no to, before any handler sees the request.
enum Refusal: Error, Equatable {
    /// Bytes where the grammar of HTTP has none: control characters, NUL, a folded header.
    case malformed
    case target
    case parameters
    case host
    /// Length given twice, or in two ways: the next server might count differently.
    case framing
    case transferCoding
    case method
    case headersTooLarge
    case bodyTooLarge
    case bodiesTooMany
    case overdue
    case stopping
    case streamsTooMany

    var status: Status {
        switch self {
        case .malformed, .target, .parameters, .host, .framing: .badRequest
        case .bodyTooLarge: .contentTooLarge
        case .headersTooLarge: .headerFieldsTooLarge
        case .transferCoding, .method: .notImplemented
        case .bodiesTooMany, .overdue, .stopping, .streamsTooMany: .serviceUnavailable
        }
    }

    var detail: String {
        switch self {
        case .malformed: "The request holds bytes that HTTP does not allow."
        case .target: "The request target must be a path of visible ASCII characters."
        case .parameters: "The query has too many parameters."
        case .host: "The request must have exactly one valid Host header."
        case .framing: "The length of the body must be given once and in one way."
        case .transferCoding: "Only the transfer coding chunked is known."
        case .method: "The method is not known."
        case .headersTooLarge: "The headers are too large."
        case .bodyTooLarge: "The body is too large."
        case .bodiesTooMany: "Too many bodies are on their way at once."
        case .overdue: "The request took too long."
        case .stopping: "The server is stopping."
        case .streamsTooMany: "Too many streams are open at once."
        }
    }

    /// As RFC 9457 asks. The texts above need no escaping.
    var body: [UInt8] {
        Array(
            """
            {"type":"about:blank","title":"\(status.reason)","status":\(status.code),\
            "detail":"\(detail)"}
            """.utf8)
    }

    var response: Response {
        var headers = Headers()
        headers.append("Content-Type", Refusal.contentType)
        headers.append("Cache-Control", "no-store")
        if status == .serviceUnavailable { headers.append("Retry-After", "1") }
        return Response(status: status, headers: headers, body: body)
    }

    /// The same answer as bytes, for when libmicrohttpd cannot send one.
    var message: [UInt8] {
        let body = body
        return Array(
            """
            HTTP/1.1 \(status)\r
            Content-Type: \(Refusal.contentType)\r
            Cache-Control: no-store\r
            \(status == .serviceUnavailable ? "Retry-After: 1\r\n" : "")Connection: close\r
            Content-Length: \(body.count)\r
            \r\n
            """.utf8) + body
    }

    private static let contentType = "application/problem+json"
}
