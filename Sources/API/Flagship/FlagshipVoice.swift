internal import HTTP
internal import JSON

extension Voice {
    /// Apps of the flagship profile: undocumented members are ignored, and an error is one text,
    /// which the apps compare letter by letter.
    static let flagship = Voice(
        name: "flagship", reading: .ignoresUnknown,
        refusal: { problem, _ in problem.flagshipResponse() },
        refusalSchemas: [Problem.flagshipSchema],
        sentence: { _ in "What is not described is ignored." }, label: { _ in "" },
        content: { _ in ["application/json": ["schema": Problem.flagshipSchema.document]] })
}

/// Refusals as apps of the flagship profile are told them.
extension Problem {
    /// In words that flagship apps compare.
    static func said(_ kind: ProblemKind, _ text: String) -> Problem {
        var problem = Problem(kind, text)
        problem.headers = []
        return problem
    }

    fileprivate func flagshipResponse() -> Response {
        if kind == .unsupportedMediaType {
            return .json(.badRequest, ["error": "bad_content_type"])
        }
        var body = members
        body["error"] = .string(detail.isEmpty ? kind.title : detail)
        return .json(kind.status, .object(body))
    }

    fileprivate static let flagshipSchema = Schema.named(
        "FlagshipError",
        .object(
            .required("error", .text(1...1000), "Error code."),
            .optional("error_description", .text(1...1000), "Explanation of a registration error."))
    )
}

extension Response {
    /// JSON:API, which this profile speaks in its settings.
    static func jsonAPI(_ status: Status, _ value: JSON) -> Response {
        var response = Response.json(status, value)
        response.headers["Content-Type"] = "application/vnd.api+json"
        return response
    }

    static func jsonAPIError(
        _ status: Status, _ title: String, _ detail: String, parameter: String? = nil
    ) -> Response {
        var error: JSONObject = [
            "status": .string(String(status.code)), "title": .string(title),
            "detail": .string(detail),
        ]
        if let parameter { error["source"] = ["parameter": .string(parameter)] }
        return .jsonAPI(status, ["errors": [.object(error)]])
    }
}
