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
            .required("type", .text(1...200), "Names the kind of problem and never changes."),
            .required("title", .text(1...200), "The kind of problem in a sentence."),
            .required("status", .integer(400...599), "The status of the response."),
            .optional("request", .text(0...200), "The request, as log lines name it."),
            .optional("detail", .text(1...1000), "What is wrong with this request."),
            .optional("field", .text(0...1000), "The parameter or member to blame."),
            .optional(
                "position", .integer(0...281_474_976_710_655),
                "Of a list that is behind: up to there it has the log."),
            .optional(
                "head", .integer(0...281_474_976_710_655),
                "Of a list that is behind: where the log ends."),
            .optional(
                "kept_to", .integer(0...281_474_976_710_655),
                "Of a lost position: up to there the log is what it was."),
            .optional(
                "cursor", .text(3...25),
                "Of a lost position: where to begin again. Of one that is too wide: where to go on."
            ),
            .optional(
                "pointer", .text(0...1000), "Of a policy: a JSON pointer to what is wrong."),
            .optional("at", .integer(0...10_000), "Of a filter: the character that is wrong."),
            .optional("expected", .text(1...1000), "Of a filter: what could stand there."),
            .optional(
                "scanned_to", .integer(0...281_474_976_710_655),
                "Of a question that is too wide: how far it looked."),
            .optional(
                "held_until", Fields.time, "Of a subscription that another reader has: until then."),
            .optional(
                "acknowledged", .text(3...25),
                "Of a cursor that is refused: up to where events were confirmed."),
            .optional(
                "sent", .text(3...25),
                "Of a cursor that is refused: up to where events were sent.")))
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
