internal import HTTP
public import JSON

/// The OpenAPI 3.1 document of a table of routes.
public enum OpenAPI {
    public static func document<Context>(
        of table: [Route<Context>], title: String, version: String, description: String
    ) -> JSON {
        var components: [String: JSON] = [:]
        Problem.schema.collect(into: &components)
        var paths: [String: [String: JSON]] = [:]
        for route in table {
            route.collectSchemas(into: &components)
            paths[route.path.description, default: [:]][route.method.rawValue.lowercased()] =
                route.document
        }
        let tags = Set(table.map(\.tag)).sorted().map { JSON.object(["name": .string($0)]) }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": .string(title), "version": .string(version),
                "description": .string(description),
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]],
            "tags": .array(tags),
            "paths": .object(paths.mapValues(JSON.object)),
            "components": [
                "schemas": .object(components),
                "examples": .object(
                    Dictionary(
                        uniqueKeysWithValues: ProblemKind.allCases.map {
                            ($0.rawValue, $0.example)
                        })),
                "securitySchemes": [
                    "adminKey": [
                        "type": "http", "scheme": "bearer",
                        "description": "An admin key, made with `urd admin key create`.",
                    ]
                ],
            ],
        ]
    }
}

extension Route {
    func collectSchemas(into components: inout [String: JSON]) {
        for parameter in parameters { parameter.schema.collect(into: &components) }
        body?.schema.collect(into: &components)
        if case .json(let schema, _) = answer.content { schema.collect(into: &components) }
    }

    var document: JSON {
        var document: [String: JSON] = [
            "operationId": .string(id), "summary": .string(summary), "tags": [.string(tag)],
            "responses": .object(responses),
            "security": right == .nothing ? [] : [["adminKey": []]],
        ]
        let described = [detail, right.sentence].filter { !$0.isEmpty }.joined(separator: " ")
        if !described.isEmpty { document["description"] = .string(described) }
        if !parameters.isEmpty { document["parameters"] = .array(parameters.map(\.document)) }
        if let body {
            document["requestBody"] = [
                "required": true,
                "content": [
                    "application/json": [
                        "schema": body.schema.document, "example": body.example,
                    ]
                ],
            ]
        }
        return .object(document)
    }

    private var responses: [String: JSON] {
        var responses = [String(answer.status.code): answer.document]
        let byStatus = Dictionary(grouping: problems) { $0.status.code }
        for (status, kinds) in byStatus {
            responses[String(status)] = problemDocument(kinds)
        }
        // What the server says before any route is asked.
        if body != nil { responses["413"] = refused("The body is too large.") }
        responses["431"] = refused("The headers are too large.")
        if responses["503"] == nil {
            responses["503"] = refused("The request took too long, or the server is stopping.")
        }
        return responses
    }

    private func refused(_ description: String) -> JSON {
        [
            "description": .string(description), "headers": .object(commonHeaders),
            "content": ["application/problem+json": ["schema": Problem.schema.document]],
        ]
    }

    private func problemDocument(_ kinds: [ProblemKind]) -> JSON {
        let sorted = kinds.sorted { $0.rawValue < $1.rawValue }
        let listed = sorted.map { "- `\($0.type)`: \($0.title)" }.joined(separator: "\n")
        var document: [String: JSON] = [
            "description": .string(listed),
            "content": [
                "application/problem+json": [
                    "schema": Problem.schema.document,
                    "examples": .object(
                        Dictionary(
                            uniqueKeysWithValues: sorted.map { kind in
                                let path = "#/components/examples/\(kind.rawValue)"
                                return (kind.rawValue, ["$ref": .string(path)])
                            })),
                ]
            ],
        ]
        var headers = commonHeaders
        switch sorted.first?.status {
        case .serviceUnavailable?: headers["Retry-After"] = header("Seconds until a new try.")
        case .unauthorized?: headers["WWW-Authenticate"] = header("How to say who you are.")
        default: break
        }
        document["headers"] = .object(headers)
        return .object(document)
    }
}

extension Answer {
    fileprivate var document: JSON {
        var document: [String: JSON] = ["description": .string(description)]
        switch content {
        case .nothing: break
        case .json(let schema, let example):
            document["content"] = [
                "application/json": ["schema": schema.document, "example": example]
            ]
        case .text(let type):
            document["content"] = .object([type: ["schema": ["type": "string"]]])
        case .bytes:
            document["content"] = ["application/octet-stream": [:]]
        }
        var documented = commonHeaders
        for (name, description) in headers { documented[name] = header(description) }
        document["headers"] = .object(documented)
        return .object(document)
    }
}

extension Parameter {
    fileprivate var document: JSON {
        var document: [String: JSON] = [
            "name": .string(name), "in": .string(place.rawValue),
            "required": .bool(isRequired), "description": .string(description),
            "schema": schema.document,
        ]
        if let example { document["example"] = example }
        return .object(document)
    }
}

extension ProblemKind {
    fileprivate var example: JSON {
        [
            "value": [
                "type": .string(type), "title": .string(title),
                "status": .integer(Int64(status.code)), "request": "0f3a9c5e",
            ]
        ]
    }
}

extension Right {
    fileprivate var sentence: String {
        switch self {
        case .nothing: ""
        case .realm: "Needs an admin key of this realm or of all realms."
        case .everything: "Needs an admin key of all realms."
        }
    }
}

private let commonHeaders = ["X-Request-Id": header("The request, as log lines name it.")]

private func header(_ description: String) -> JSON {
    ["description": .string(description), "schema": ["type": "string"]]
}
