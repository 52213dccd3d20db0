internal import HTTP
internal import JSON

extension Dialect {
    /// The bodies that a route of this dialect refuses with.
    var refusalSchemas: [Schema] {
        switch self {
        case .plain: [Problem.schema]
        case .oauth: [Problem.oauthSchema, RateLimitRefusal.schema]
        case .native: [Problem.nativeSchema, Problem.nativeSmallSchema, RateLimitRefusal.schema]
        case .flagship: [Problem.flagshipSchema]
        case .page: []
        }
    }

    func sentence(hasBody: Bool) -> String {
        switch self {
        case .plain, .page: ""
        case .oauth:
            "Parameters that are not described are ignored, and one without a value is not there."
        case .flagship: "What is not described is ignored."
        case .native:
            hasBody ? "Members are matched without case; others than these are ignored." : ""
        }
    }

    /// How a route answers with any of these problems, which have one status.
    func document(of kinds: [ProblemKind]) -> JSON {
        let sorted = kinds.sorted { $0.rawValue < $1.rawValue }
        var document: JSONObject = [:]
        switch self {
        case .plain:
            document["description"] = list(sorted) { "`\($0.type)`: \($0.title)" }
            document["content"] = [
                "application/problem+json": [
                    "schema": Problem.schema.document,
                    "examples": .object(
                        JSONObject(
                            sorted.map { kind in
                                let path = "#/components/examples/\(kind.rawValue)"
                                return (kind.rawValue, ["$ref": .string(path)])
                            })),
                ]
            ]
        case .oauth:
            document["description"] = list(sorted) { "`\($0.oauthCode)`: \($0.title)" }
            document["content"] = ["application/json": ["schema": schema(of: sorted).document]]
        case .native:
            document["description"] = list(sorted) { "`\($0.nativeCode)`: \($0.title)" }
            var content: JSONObject = [:]
            if sorted.contains(where: { $0 != .rateLimited }) {
                content["application/problem+json"] = ["schema": Problem.nativeSchema.document]
            }
            if sorted.contains(where: {
                $0 == .rateLimited || $0 == .invalidLink || $0.status == .badRequest
            }) {
                content["application/json"] = ["schema": schema(of: sorted).document]
            }
            document["content"] = .object(content)
        case .flagship:
            document["description"] = list(sorted) { $0.title }
            document["content"] = [
                "application/json": ["schema": Problem.flagshipSchema.document]
            ]
        case .page:
            document["description"] = list(sorted) { $0.title }
            document["content"] = ["text/html": ["schema": ["type": "string"]]]
        }
        document["headers"] = .object(headers(of: sorted))
        return .object(document)
    }

    private func list(_ kinds: [ProblemKind], _ line: (ProblemKind) -> String) -> JSON {
        .string(kinds.map { "- \(line($0))" }.joined(separator: "\n"))
    }

    private func schema(of kinds: [ProblemKind]) -> Schema {
        if kinds.contains(.rateLimited) { return RateLimitRefusal.schema }
        return self == .native ? Problem.nativeSmallSchema : Problem.oauthSchema
    }

    private func headers(of kinds: [ProblemKind]) -> JSONObject {
        var headers = commonHeaders
        switch kinds.first?.status {
        case .serviceUnavailable?, .tooManyRequests?:
            headers["Retry-After"] = header("Seconds until a new try.")
        case .unauthorized?: headers["WWW-Authenticate"] = header("How to say who you are.")
        default: break
        }
        return headers
    }
}

extension Right {
    /// The scheme of `securitySchemes` that proves it.
    var scheme: String? {
        switch self {
        case .nothing: nil
        case .realm, .everything: "adminKey"
        case .client: "client"
        case .account, .bearer, .service: "accessToken"
        }
    }

    /// One of these is enough. A client may show itself in the body as well, or have no secret.
    var requirements: [JSON] {
        switch self {
        case .nothing: []
        case .realm, .everything: [["adminKey": []]]
        case .client: [["client": []], [:]]
        case .account, .bearer, .service: [["accessToken": []]]
        }
    }

    var sentence: String {
        switch self {
        case .nothing: ""
        case .realm: "Needs an admin key of this realm or of all realms."
        case .everything: "Needs an admin key of all realms."
        case .client: "Needs a client of the host's realm, which shows itself in one way only."
        case .account:
            "Needs the access token of an account, of an app that may sign people in by itself."
        case .bearer: "Needs the access token of an account."
        case .service: "Needs an access token that a client has for itself."
        }
    }

    static let schemes: JSONObject = [
        "adminKey": [
            "type": "http", "scheme": "bearer",
            "description": "An admin key, made with `urd admin key create`.",
        ],
        "client": [
            "type": "http", "scheme": "basic",
            "description": "A client's id and secret, each encoded as in a form.",
        ],
        "accessToken": [
            "type": "http", "scheme": "bearer",
            "description": "An access token from the token endpoint.",
        ],
    ]
}
