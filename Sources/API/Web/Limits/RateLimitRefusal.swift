internal import HTTP
internal import JSON

/// The refusal of a request beyond a rate limit: which limit, and when to retry.
struct RateLimitRefusal: Sendable, Equatable {
    let policy: RatePolicy
    let dimension: RateDimension
    let seconds: Int64

    init(_ policy: RatePolicy, _ dimension: RateDimension, after nanoseconds: Int64) {
        self.policy = policy
        self.dimension = dimension
        // Rounded up, and never at once: who comes then finds a token.
        seconds = max(1, nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 > 0 ? 1 : 0))
    }

    static let schema = Schema.named(
        "RateLimited",
        .object(
            .required("error", .oneOf(["rate_limited"]), "Error code; always rate_limited."),
            .required(
                "policy", .oneOf(RatePolicy.allCases.map(\.rawValue)),
                "Rate limit that was exceeded."),
            .required(
                "dimension", .oneOf(RateDimension.allCases.map(\.rawValue)),
                "Dimension that the rate limit counts by."),
            .required(
                "retryAfterSeconds", .integer(1...10_000_000),
                "Seconds after which the request may be retried.")))
}

extension Problem {
    init(_ refusal: RateLimitRefusal) {
        self.init(.rateLimited)
        members = [
            "policy": .string(refusal.policy.rawValue),
            "dimension": .string(refusal.dimension.rawValue),
            "retryAfterSeconds": .integer(refusal.seconds),
        ]
        headers.append(("Retry-After", String(refusal.seconds)))
    }

    /// The same in the voices of OAuth and of native apps.
    func rateLimitResponse() -> Response {
        var body = members
        body["error"] = "rate_limited"
        return .json(kind.status, .object(body))
    }
}
