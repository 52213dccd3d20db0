internal import HTTP
internal import JSON

/// Routes without authentication.
enum PublicRoutes {
    static let table: [Route<AdminContext>] =
        [welcome, document, problem] + EventDocumentRoutes.table

    private static let welcome = Route<AdminContext>(
        .get, "/", id: "getWelcome", tag: "About",
        summary: "Shows the name of the server and where it is described.", right: .nothing,
        answer: .ok(
            "Name of the software and path of the OpenAPI document.",
            .object(
                .required("name", .text(1...100), "The name of the software."),
                .required("openapi", .text(1...100), "Path of the OpenAPI document.")),
            example: ["name": "Urd", "openapi": "/openapi.json"]),
        traits: .isFirstPage
    ) { _ throws(Problem) in
        .json(.ok, ["name": "Urd", "openapi": "/openapi.json"])
    }

    private static let document = Route<AdminContext>(
        .get, "/openapi.json", id: "getOpenAPI", tag: "About", summary: "Shows this description.",
        right: .nothing,
        answer: .ok("An OpenAPI 3.1 document.", .openObject, example: ["openapi": "3.1.0"])
    ) { _ throws(Problem) in
        var response = Response(status: .ok, headers: Headers(), body: API.document)
        response.headers["Content-Type"] = "application/json"
        return response
    }

    private static let problem = Route<AdminContext>(
        .get, "/problems/{problem}", id: "getProblemKind", tag: "About",
        summary: "Explains a kind of problem.",
        detail: "The `type` of every problem is such a path.", right: .nothing,
        parameters: [
            Parameter(
                "problem", in: .path, .text(1...63, Names.label),
                "The last segment of the problem's type.", example: "busy")
        ],
        answer: .ok(
            "Description of the problem type.",
            .object(
                .required(
                    "type", .text(1...200),
                    "URI of the problem type, as in problem documents (RFC 9457)."),
                .required("title", .text(1...200), "Summary of the problem type."),
                .required(
                    "status", .integer(400...599),
                    "HTTP status of the responses with this problem type.")),
            example: ["type": "/problems/busy", "title": "…", "status": 503]),
        refusals: [.noSuchProblem]
    ) { call throws(Problem) in
        guard let kind = ProblemKind(rawValue: try call.required("problem")) else {
            throw Problem(.noSuchProblem)
        }
        return .json(
            .ok,
            [
                "type": .string(kind.type), "title": .string(kind.title),
                "status": .integer(Int64(kind.status.code)),
            ])
    }
}
