internal import HTTP
internal import JSON

extension Voice {
    /// How a route answers with any of these problems, which have one status.
    func document(of kinds: [ProblemKind]) -> JSON {
        let sorted = kinds.sorted { $0.rawValue < $1.rawValue }
        return [
            "description": .string(sorted.map { line(of: $0) }.joined(separator: "\n")),
            "content": .object(content(sorted)), "headers": .object(headers(of: sorted)),
        ]
    }

    private func line(of kind: ProblemKind) -> String {
        let label = label(kind)
        return label.isEmpty ? "- \(kind.title)" : "- `\(label)`: \(kind.title)"
    }

    private func headers(of kinds: [ProblemKind]) -> JSONObject {
        var headers = commonHeaders
        switch kinds.first?.status {
        case .serviceUnavailable?, .tooManyRequests?:
            headers["Retry-After"] = header("Seconds after which the request may be retried.")
        case .unauthorized?: headers["WWW-Authenticate"] = header("Authentication scheme.")
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

    /// One of these schemes is enough. A client may show itself in the body as well, or have no secret.
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
