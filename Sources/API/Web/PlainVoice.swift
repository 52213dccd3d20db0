internal import HTTP
internal import JSON

extension Voice {
    /// Urd's own: what isn't described is refused; refusals are problems (RFC 9457).
    static let plain = Voice(
        name: "plain", refusal: { $0.plainResponse($1) }, refusalSchemas: [Problem.schema],
        label: { $0.type },
        content: { kinds in
            [
                "application/problem+json": [
                    "schema": Problem.schema.document,
                    "examples": .object(
                        JSONObject(
                            kinds.map { kind in
                                let path = "#/components/examples/\(kind.rawValue)"
                                return (kind.rawValue, ["$ref": .string(path)])
                            })),
                ]
            ]
        })
}

extension Problem {
    fileprivate func plainResponse(_ request: Request) -> Response {
        var body = members
        body["type"] = .string(kind.type)
        body["title"] = .string(kind.title)
        body["status"] = .integer(Int64(kind.status.code))
        body["request"] = .string(request.id)
        if !detail.isEmpty { body["detail"] = .string(detail) }
        if let field { body["field"] = .string(field) }
        var response = Response(
            status: kind.status, headers: Headers(), body: JSON.object(body).canonical())
        response.headers["Content-Type"] = "application/problem+json"
        return response
    }
}
