internal import HTTP
internal import Identity

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
    private static let taken = "API_KEY_ID, Authorization, Content-Type, DPoP, Idempotency-Key"

    static func mayRead(_ response: inout Response) {
        response.headers.fill(from: forReading)
    }

    /// Scripts of this origin, with the browser's cookies: the route has found that its owner lets it.
    static func mayReadWithCookies(_ response: inout Response, _ origin: String) {
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Access-Control-Expose-Headers"] = "Retry-After, X-Request-Id"
        response.headers["Vary"] = "Origin"
    }

    /// What is refused before it is known whose app asks says nothing of any person: any origin that a tenant can
    /// list reads why.
    static func mayReadRefusal(_ response: inout Response, _ request: Request) {
        guard let origin = request.headers["Origin"], TenantPlace(origin)?.webOrigin == origin
        else { return }
        mayReadWithCookies(&response, origin)
    }

    /// The question that browsers ask first has no API key in it, so that any origin may ask that a tenant can
    /// list. Whether the tenant lets the origin is found when the request itself comes.
    static func mayAskWithCookies(_ response: inout Response, _ request: Request, _ methods: String)
    {
        mayReadRefusal(&response, request)
        guard response.headers["Access-Control-Allow-Origin"] != nil else { return }
        response.headers["Access-Control-Allow-Methods"] = methods
        response.headers["Access-Control-Allow-Headers"] =
            "API_KEY_ID, Authorization, Content-Type"
        response.headers["Access-Control-Max-Age"] = longestMemory
    }

    /// Answers the question that browsers ask first.
    static func mayAsk(_ response: inout Response, _ methods: String) {
        response.headers["Access-Control-Allow-Methods"] = methods
        response.headers["Access-Control-Allow-Headers"] = taken
        response.headers["Access-Control-Max-Age"] = longestMemory
    }
}
