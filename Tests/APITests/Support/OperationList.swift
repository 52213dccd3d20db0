import JSON

/// An OpenAPI document without its prose: what a program that was made from it depends on, in lines
/// that read well in a diff.
struct OperationList {
    private var lines: [String] = []

    /// What people read, and what is the same at every response.
    private static let prose: Set<String> = [
        "summary", "description", "title", "example", "examples", "tags",
    ]

    static func text(of document: JSON) -> String {
        var list = OperationList()
        for (path, methods) in document["paths"]?.object ?? [:] {
            for (method, operation) in methods.object ?? [:] {
                list.add(operation, at: method.uppercased() + " " + path)
            }
        }
        for (name, schema) in document["components"]?["schemas"]?.object ?? [:] {
            list.lines.append("")
            list.add(schema, named: "schema " + name, depth: 0)
        }
        for (name, scheme) in document["components"]?["securitySchemes"]?.object ?? [:] {
            list.lines += ["", "scheme " + name + words(of: scheme)]
        }
        return list.lines.dropFirst().joined(separator: "\n") + "\n"
    }

    private mutating func add(_ operation: JSON, at address: String) {
        let schemes = (operation["security"]?.array ?? []).map { requirement in
            let keys = requirement.object?.keys ?? []
            return keys.isEmpty ? "nothing" : keys.joined(separator: "+")
        }
        let security = schemes.isEmpty ? "" : " by " + schemes.joined(separator: " or ")
        let needed = permission(operation)
        lines += [
            "", "\(address) \(operation["operationId"]?.string ?? "?")\(security)\(needed)",
        ]
        for parameter in operation["parameters"]?.array ?? [] {
            let place = parameter["in"]?.string ?? "?"
            let isRequired = parameter["required"]?.bool == true
            add(
                parameter["schema"] ?? [:],
                named: "\(place) \(parameter["name"]?.string ?? "?")\(isRequired ? "" : "?")"
                    + permission(parameter),
                depth: 1)
        }
        if let body = operation["requestBody"] {
            add(contentOf: body, named: body["required"]?.bool == true ? "body" : "body?")
        }
        for (status, response) in operation["responses"]?.object ?? [:] {
            if status.hasPrefix("2") {
                add(contentOf: response, named: status + headers(of: response))
            } else if let refusal = refusal(response) {
                lines.append("  \(status)\(headers(of: response))\(refusal)")
            }
        }
    }

    private func permission(_ described: JSON) -> String {
        described["x-urd-permission"]?.string.map { " with \($0)" } ?? ""
    }

    private func headers(of response: JSON) -> String {
        let names = (response["headers"]?.object?.keys ?? []).filter { $0 != "X-Request-Id" }
        return names.isEmpty ? "" : " with " + names.joined(separator: ", ")
    }

    /// By which schemas, and for which problems. Nil for what the server says before any route is asked.
    private func refusal(_ response: JSON) -> String? {
        let problems = problems(of: response)
        if problems.isEmpty { return nil }
        let forms = (response["content"]?.object ?? [:]).map { type, media in
            media["schema"].map(Self.words) ?? " " + type
        }
        return Set(forms).sorted().joined() + ": " + problems.joined(separator: ", ")
    }

    /// The codes by which a refusal's description and examples tell problems apart.
    private func problems(of response: JSON) -> [String] {
        let told = (response["description"]?.string ?? "").split(separator: "\n").compactMap {
            $0.hasPrefix("- `") ? $0.split(separator: "`").dropFirst().first : nil
        }.map { $0.split(separator: "/").last.map(String.init) ?? "" }
        let shown = (response["content"]?.object ?? [:]).flatMap {
            $0.value["examples"]?.object?.keys ?? []
        }
        return Set(told + shown).sorted()
    }

    private mutating func add(contentOf message: JSON, named name: String) {
        guard let content = message["content"]?.object, !content.isEmpty else {
            return lines.append("  " + name)
        }
        for (type, media) in content {
            guard let schema = media["schema"] else {
                lines.append("  \(name) \(type)")
                continue
            }
            add(schema, named: "\(name) \(type)", depth: 1)
        }
    }

    private mutating func add(_ schema: JSON, named name: String, depth: Int) {
        lines.append(String(repeating: "  ", count: depth) + name + Self.words(of: schema))
        addMembers(of: schema, depth: depth)
    }

    private mutating func addMembers(of schema: JSON, depth: Int) {
        let required = schema["required"]?.array ?? []
        for (member, inner) in schema["properties"]?.object ?? [:] {
            let mark = required.contains(.string(member)) ? "" : "?"
            add(inner, named: member + mark, depth: depth + 1)
        }
        for choice in schema["anyOf"]?.array ?? [] { addMembers(of: choice, depth: depth) }
        if let items = schema["items"] { add(items, named: "each", depth: depth + 1) }
        if let inner = schema["additionalProperties"], inner.object != nil {
            add(inner, named: "any", depth: depth + 1)
        }
    }

    /// A schema's own rules: its type or name first, then the rest as it is written.
    private static func words(of schema: JSON) -> String {
        var rest = schema.object ?? [:]
        for name in Self.prose.union(["properties", "items", "required"]) {
            rest.removeValue(forKey: name)
        }
        // A closed object is the usual one; a map's values are listed below it.
        if rest["additionalProperties"] == false || rest["additionalProperties"]?.object != nil {
            rest.removeValue(forKey: "additionalProperties")
        }
        var words: [String] = []
        if let choices = rest.removeValue(forKey: "anyOf")?.array {
            words.append(
                choices.map { String(Self.words(of: $0).dropFirst()) }.joined(separator: " or "))
        }
        if let reference = rest.removeValue(forKey: "$ref")?.string {
            words.append(reference.split(separator: "/").last.map(String.init) ?? reference)
        }
        if let type = rest.removeValue(forKey: "type") { words.append(text(type)) }
        for (least, most) in [
            ("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"),
        ] {
            guard let upper = rest.removeValue(forKey: most)?.integer else { continue }
            words.append("\(rest.removeValue(forKey: least)?.integer ?? 0)...\(upper)")
        }
        if rest["uniqueItems"] == false { rest.removeValue(forKey: "uniqueItems") }
        for (name, value) in rest { words.append("\(name)=\(text(value))") }
        return words.map { " " + $0 }.joined()
    }

    private static func text(_ value: JSON) -> String {
        if let text = value.string { return text }
        if let values = value.array { return values.map { text($0) }.joined(separator: "|") }
        return String(decoding: value.canonical(), as: UTF8.self)
    }
}
