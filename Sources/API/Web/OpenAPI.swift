internal import HTTP
internal import Identity
internal import JSON

/// The OpenAPI 3.1 document of a table of routes.
enum OpenAPI {
    static func document(
        of table: [Outline], title: String, version: String, description: String
    ) -> JSON {
        var components: JSONObject = [:]
        Problem.schema.collect(into: &components)
        var paths: [String: JSONObject] = [:]
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
            "paths": .object(JSONObject(paths.map { ($0.key, .object($0.value)) })),
            "components": [
                "schemas": .object(components),
                "examples": .object(
                    JSONObject(ProblemKind.allCases.map { ($0.rawValue, $0.example) })),
                "securitySchemes": .object(
                    Right.schemes.filter { name, _ in table.contains { $0.right.scheme == name } }
                ),
            ],
        ]
    }
}

extension Outline {
    func collectSchemas(into components: inout JSONObject) {
        for parameter in parameters { parameter.schema.collect(into: &components) }
        body?.schema.collect(into: &components)
        for schema in voice.refusalSchemas { schema.collect(into: &components) }
        if case .json(let schema, _) = answer.content { schema.collect(into: &components) }
    }

    var document: JSON {
        var document: JSONObject = [
            "operationId": .string(id), "summary": .string(summary), "tags": [.string(tag)],
            "responses": .object(responses),
            "security": .array(right.requirements),
        ]
        let described = [detail, right.sentence, permissionSentence, voice.sentence(body != nil)]
            .filter {
                !$0.isEmpty
            }.joined(separator: " ")
        if !described.isEmpty { document["description"] = .string(described) }
        if let permission { document["x-urd-permission"] = .string(permission.rawValue) }
        if !parameters.isEmpty { document["parameters"] = .array(parameters.map(\.document)) }
        if let body {
            document["requestBody"] = [
                "required": .bool(!mayBeLeftOut(body)),
                "content": [
                    body.format.rawValue: [
                        "schema": voice.reading.contains(.matchesWithoutCase)
                            ? body.schema.document.lettingNull : body.schema.document,
                        "example": body.example,
                    ]
                ],
            ]
        }
        return .object(document)
    }

    private var permissionSentence: String {
        permission.map { "A key that is limited to permissions needs `\($0.rawValue)`." } ?? ""
    }

    private var responses: JSONObject {
        var responses: JSONObject = [String(answer.status.code): answer.document]
        let byStatus = Dictionary(grouping: problems) { $0.status.code }
        for (status, kinds) in byStatus {
            responses[String(status)] = voice.document(of: kinds)
        }
        // What the server says before any route is asked.
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
}

extension Answer {
    fileprivate var document: JSON {
        var document: JSONObject = ["description": .string(description)]
        switch content {
        case .nothing: break
        case .json(let schema, let example):
            document["content"] = [
                "application/json": ["schema": schema.document, "example": example]
            ]
        case .text(let type):
            document["content"] = .object([type: ["schema": ["type": "string"]]])
        case .bytes(let type):
            document["content"] = .object([type: [:]])
        case .stream(let types):
            document["content"] = .object(
                JSONObject(types.map { ($0, ["schema": ["type": "string"]]) }))
        }
        var documented = commonHeaders
        for (name, description) in headers { documented[name] = header(description) }
        document["headers"] = .object(documented)
        return .object(document)
    }
}

extension Parameter {
    private var said: String {
        guard let permission else { return description }
        return description + " A key that is limited to permissions needs `\(permission.rawValue)`."
    }

    fileprivate var document: JSON {
        var document: JSONObject = [
            "name": .string(name), "in": .string(place.rawValue),
            "required": .bool(isRequired), "description": .string(said),
            "schema": schema.document,
        ]
        if let example { document["example"] = example }
        if let permission { document["x-urd-permission"] = .string(permission.rawValue) }
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

let commonHeaders: JSONObject = ["X-Request-Id": header("The request, as log lines name it.")]

func header(_ description: String) -> JSON {
    ["description": .string(description), "schema": ["type": "string"]]
}

extension JSON {
    /// As native apps are read: null is what is left out.
    fileprivate var lettingNull: JSON {
        guard var document = object, var properties = document["properties"]?.object else {
            return self
        }
        let required = document["required"]?.array ?? []
        for (name, value) in properties where !required.contains(.string(name)) {
            guard var property = value.object, let type = property["type"]?.string else { continue }
            property["type"] = [.string(type), "null"]
            property["enum"] = property["enum"]?.array.map { .array($0 + [.null]) }
            properties[name] = .object(property)
        }
        document["properties"] = .object(properties)
        return .object(document)
    }
}
