internal import HTTP
internal import JSON

extension Voice {
    /// Apps and services of the federation profile: what is not described is ignored, and an error is a code of
    /// OAuth with a sentence.
    static let federation = Voice(
        name: "federation", reading: .ignoresUnknown,
        refusal: { problem, _ in problem.federationResponse() },
        refusalSchemas: [Problem.federationSchema],
        sentence: { _ in "What is not described is ignored." }, label: { $0.oauthCode },
        content: { _ in ["application/json": ["schema": Problem.federationSchema.document]] },
        alias: Alias(base: FederationPaths.base, other: FederationPaths.otherBase))
}

extension Problem {
    /// A refusal that tells no more than that: 403, with a code of OAuth. The protocol's clients take any status
    /// but 200 alike.
    static func refused(_ code: String, _ sentence: String) -> Problem {
        var problem = Problem(.forbidden, sentence)
        problem.members["error"] = .string(code)
        return problem
    }

    fileprivate func federationResponse() -> Response {
        var body: JSONObject = ["error": .string(kind.oauthCode)]
        body["error_description"] = .string(detail.isEmpty ? kind.title : detail)
        body.merge(members) { _, own in own }
        return .json(kind.status, .object(body))
    }

    fileprivate static let federationSchema = Schema.named(
        "FederationError",
        .object(
            .required("error", .text(1...100), "OAuth error code."),
            .required(
                "error_description", .text(1...1000), "Explanation of the error in a sentence.")))
}
