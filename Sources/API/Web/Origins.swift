internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

extension Origin {
    /// The caller, where they ask from, and the trace that they say it belongs to.
    init(
        _ actor: String, client: String? = nil, of request: Request, from address: String?,
        at now: Timestamp
    ) {
        self.init(
            actor: actor, client: client, correlation: request.traceParent, address: address,
            userAgent: request.headers["User-Agent"].map { String($0.unicodeScalars.prefix(512)) },
            at: now)
    }
}

extension Request {
    /// If it is spelled as W3C Trace Context asks.
    fileprivate var traceParent: String? {
        guard let text = headers["traceparent"], traceParentPattern.matches(text) else {
            return nil
        }
        return text
    }
}

private let traceParentPattern = Pattern.sequence([
    .some(Characters("0-9a-f"), 2...2), .text("-"), .some(Characters("0-9a-f"), 32...32),
    .text("-"), .some(Characters("0-9a-f"), 16...16), .text("-"),
    .some(Characters("0-9a-f"), 2...2),
])
