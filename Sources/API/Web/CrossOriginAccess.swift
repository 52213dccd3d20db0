internal import HTTP

/// What scripts of pages elsewhere may ask and read (CORS, Fetch Standard section 3.2).
///
/// An application that runs in a browser alone gets its tokens itself, from wherever its pages are, so
/// that the endpoints which clients ask by themselves are open to every origin (RFC 9700 section 2.6).
/// Nothing there goes by cookies, and no credentials of the browser's are asked for: who may read an
/// answer is who had the token, code or secret that it was given for. No other route is open, and
/// least of all those that people are led to.
enum CrossOriginAccess {
    private static let longestMemory = "7200"
    private static let forReading: Headers = [
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "DPoP-Nonce, Retry-After, WWW-Authenticate, X-Request-Id",
    ]
    /// An asterisk would not stand for the first of them.
    private static let taken = "Authorization, Content-Type, DPoP"

    static func mayRead(_ response: inout Response) {
        response.headers.fill(from: forReading)
    }

    /// Answers the question that browsers ask first.
    static func mayAsk(_ response: inout Response, _ methods: String) {
        response.headers["Access-Control-Allow-Methods"] = methods
        response.headers["Access-Control-Allow-Headers"] = taken
        response.headers["Access-Control-Max-Age"] = longestMemory
    }
}
