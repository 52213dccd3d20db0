public import HTTP
internal import JSON

/// Why a request was not carried out, as RFC 9457 has it. A value of its own for each request:
/// nothing in it is shared.
public struct Problem: Error, Sendable {
    public let kind: ProblemKind
    /// For people: what is wrong with this very request. Never a secret, never personal data.
    public var detail: String
    /// The parameter, header or member that is to blame: `limit`, `redirect_uris/0`.
    public var field: String?
    public var headers: [(name: String, value: String)] = []

    public init(_ kind: ProblemKind, _ detail: String = "", field: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.field = field
        switch kind.status {
        case .serviceUnavailable: headers = [("Retry-After", "1")]
        case .unauthorized: headers = [("WWW-Authenticate", #"Bearer realm="urd""#)]
        default: break
        }
    }

    public func response(to request: Request) -> Response {
        var body: [String: JSON] = [
            "type": .string(kind.type), "title": .string(kind.title),
            "status": .integer(Int64(kind.status.code)), "request": .string(request.id),
        ]
        if !detail.isEmpty { body["detail"] = .string(detail) }
        if let field { body["field"] = .string(field) }
        var response = Response(
            status: kind.status, headers: Headers(), body: JSON.object(body).canonical())
        response.headers["Content-Type"] = "application/problem+json"
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
            .optional("field", .text(0...1000), "The parameter or member to blame.")))
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
