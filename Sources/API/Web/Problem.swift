internal import HTTP
internal import JOSE
public import JSON

/// Why a request was not carried out. A value of its own for each request: nothing in it is shared.
/// The voice of the route words it.
public struct Problem: Error, Sendable {
    public let kind: ProblemKind
    /// For people: what is wrong with this very request. Never a secret, never personal data.
    public var detail: String
    /// The parameter, header or member that is to blame: `limit`, `redirect_uris/0`.
    public var field: String?
    public var headers: [(name: String, value: String)] = []

    /// What programs are told beside the usual members (RFC 9457 section 3.2).
    public var members: JSONObject = [:]

    public init(_ kind: ProblemKind, _ detail: String = "", field: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.field = field
        headers = Self.headers(of: kind)
    }

    private static func headers(of kind: ProblemKind) -> [(name: String, value: String)] {
        if kind == .invalidClient { return [("WWW-Authenticate", #"Basic realm="urd""#)] }
        if [.invalidToken, .insufficientScope, .reauthenticationRequired].contains(kind) {
            return [("WWW-Authenticate", bearerChallenge(kind))]
        }
        if [.unprovenToken, .proofRefused, .proofNonceNeeded].contains(kind) {
            return [("WWW-Authenticate", proofChallenge(kind))]
        }
        if kind.status == .unauthorized {
            return [("WWW-Authenticate", #"Bearer realm="urd""#)]
        }
        if [.tooManyFeeds, .tooManyCases, .tooManyWhatIfs, .tooManyBuilds].contains(kind) {
            return [("Retry-After", "60")]
        }
        return kind.status == .serviceUnavailable ? [("Retry-After", "1")] : []
    }

    /// RFC 6750 section 3: a client without a token hears of no error.
    private static func bearerChallenge(_ kind: ProblemKind) -> String {
        #"Bearer realm="urd", error="\#(kind.oauthCode)", error_description="\#(kind.title)""#
    }

    /// RFC 9449 section 7.1.
    private static func proofChallenge(_ kind: ProblemKind) -> String {
        let algorithms = KeyProof.algorithms.map(\.rawValue).joined(separator: " ")
        return #"DPoP realm="urd", error="\#(kind.oauthCode)", algs="\#(algorithms)""#
    }

    /// Where a page leads that tells of it, if there is a way on.
    var nextPage: String?

    /// The app whose request it is about, as a page names it. Nil where its name is only its own claim.
    var appName: String?

    /// Scripts of the page that asked are refused, and read nothing of it.
    var isClosedToScripts = false

    /// Whose pages tell of it, where that is known.
    var owner: (any PageOwner)?

    /// As the voice words it.
    func response(to request: Request, in voice: Voice = .plain) -> Response {
        var response = voice.refusal(self, request)
        for (name, value) in headers { response.headers.append(name, value) }
        return response
    }

    static let schema = Schema.named(
        "Problem",
        .object(
            .required(
                "type", .text(1...200), "URI of the problem type, which never changes (RFC 9457)."),
            .required("title", .text(1...200), "Summary of the problem type."),
            .required("status", .integer(400...599), "HTTP status of the response."),
            .optional("request", .text(0...200), "Request id, as in log lines."),
            .optional("detail", .text(1...1000), "Explanation of this problem."),
            .optional("field", .text(0...1000), "Parameter or member that caused the problem."),
            .optional(
                "position", .integer(0...281_474_976_710_655),
                "Position up to which the list has the log, for a list that is behind."),
            .optional(
                "head", .integer(0...281_474_976_710_655),
                "Last position of the log, for a list that is behind."),
            .optional(
                "kept_to", .integer(0...281_474_976_710_655),
                "Position up to which the log is unchanged, for a lost position."),
            .optional(
                "cursor", .text(3...25),
                "Cursor to begin again at, for a lost position, or to continue at, for a "
                    + "query that is too wide."
            ),
            .optional(
                "pointer", .text(0...1000), "JSON Pointer to the invalid part of a policy."),
            .optional("at", .integer(0...10_000), "Index of the invalid character of a filter."),
            .optional(
                "expected", .text(1...1000), "Tokens that a filter could have at that place."),
            .optional(
                "scanned_to", .integer(0...281_474_976_710_655),
                "Last position that was read, for a query that is too wide."),
            .optional(
                "held_until", Fields.time,
                "Expiry time of the lease, for a subscription with another reader."),
            .optional(
                "acknowledged", .text(3...25),
                "Cursor up to which events were confirmed, for a cursor that is refused."),
            .optional(
                "sent", .text(3...25),
                "Cursor up to which events were sent, for a cursor that is refused.")))
}

extension Problem {
    init(_ violation: SchemaViolation) {
        let field = violation.field
        switch violation.reason {
        case .missing: self.init(.missingField, "\(field) is required.", field: field)
        case .unknown: self.init(.unknownField, "\(field) is not known here.", field: field)
        case .malformed(let sentence):
            let subject = field.isEmpty ? "The body" : field
            self.init(
                .invalidField, "\(subject) \(sentence).", field: field.isEmpty ? nil : field)
        }
    }
}
