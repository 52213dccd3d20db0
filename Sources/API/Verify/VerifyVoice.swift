internal import HTTP
internal import JSON

extension Voice {
    /// Apps of the verify profile: what is not described is ignored, and an error is one text.
    static let verify = Voice(
        name: "verify", reading: [.ignoresUnknown, .matchesWithoutCase],
        refusal: { problem, _ in problem.verifyResponse() },
        refusalSchemas: [Problem.verifySchema],
        sentence: { _ in "What is not described is ignored." }, label: { _ in "" },
        content: { _ in ["application/json": ["schema": Problem.verifySchema.document]] })

    /// The page for tenants: who asks for JSON is told in JSON what is wrong.
    static let verifyPage = Voice(
        name: "verify page", reading: .ignoresUnknown, caution: .isOfPages,
        refusal: { problem, request in
            let accepted = request.headers["Accept"]?.lowercased() ?? ""
            if accepted.contains("application/json"), !accepted.contains("text/html") {
                return problem.verifyResponse()
            }
            // The way on is back to the app, and not to an account here.
            var problem = problem
            problem.nextPage = nil
            return Voice.page.refusal(problem, request)
        },
        label: { _ in "" }, content: { _ in ["text/html": ["schema": ["type": "string"]]] })
}

extension Problem {
    /// Clients repeat what fails with 500, and read nothing but this text.
    fileprivate func verifyResponse() -> Response {
        let text = detail.isEmpty ? kind.title : detail
        let told = kind == .malformedJSON ? "The body must be JSON: \(text)" : text
        return .json(kind.status, ["msg": .string(told)])
    }

    fileprivate static let verifySchema = Schema.named(
        "VerifyError",
        .object(.required("msg", .text(1...1000), "Explanation of the error.")))
}
