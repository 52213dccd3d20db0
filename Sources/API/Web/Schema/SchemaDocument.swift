public import JSON

extension Schema {
    /// As JSON Schema 2020-12, which is what OpenAPI 3.1 speaks. Named schemas are references.
    public var document: JSON {
        switch self {
        case .text(let rule): rule.document
        case .integer(let range):
            [
                "type": "integer", "minimum": .integer(range.lowerBound),
                "maximum": .integer(range.upperBound),
            ]
        case .boolean: ["type": "boolean"]
        case .list(let element, let count, let unique):
            [
                "type": "array", "items": element.document,
                "minItems": .integer(Int64(count.lowerBound)),
                "maxItems": .integer(Int64(count.upperBound)), "uniqueItems": .bool(unique),
            ]
        case .object(let rule): rule.document
        case .openObject: ["type": "object"]
        case .map(let schema): ["type": "object", "additionalProperties": schema.document]
        case .nullable(let schema): ["anyOf": [schema.document, ["type": "null"]]]
        case .judged(let schema): schema.document
        case .named(let name, _): ["$ref": .string("#/components/schemas/\(name)")]
        case .anything: [:]
        }
    }

    /// Adds every named schema in this one, itself included, to the components.
    func collect(into components: inout JSONObject) {
        switch self {
        case .named(let name, let schema):
            let document = schema.document
            if let known = components[name] {
                precondition(known == document, "A name stands for one schema.")
                return
            }
            components[name] = document
            schema.collect(into: &components)
        case .list(let element, _, _): element.collect(into: &components)
        case .object(let rule):
            for member in rule.members { member.schema.collect(into: &components) }
        case .map(let schema), .nullable(let schema), .judged(let schema):
            schema.collect(into: &components)
        case .text, .integer, .boolean, .openObject, .anything: break
        }
    }
}

extension TextRule {
    fileprivate var document: JSON {
        var document: JSONObject = ["type": "string"]
        if !values.isEmpty {
            document["enum"] = .array(values.map(JSON.string))
            return .object(document)
        }
        if length.lowerBound > 0 { document["minLength"] = .integer(Int64(length.lowerBound)) }
        document["maxLength"] = .integer(Int64(length.upperBound))
        if let pattern { document["pattern"] = .string(pattern.expression) }
        if let format { document["format"] = .string(format) }
        return .object(document)
    }
}

extension ObjectRule {
    fileprivate var document: JSON {
        var properties: JSONObject = [:]
        for member in members { properties[member.name] = member.document }
        var document: JSONObject = [
            "type": "object", "properties": .object(properties), "additionalProperties": false,
        ]
        let required = members.filter(\.isRequired).map { JSON.string($0.name) }
        if !required.isEmpty { document["required"] = .array(required) }
        return .object(document)
    }
}

extension Member {
    fileprivate var document: JSON {
        var document = schema.document.object ?? [:]
        document["description"] = .string(description)
        if let example { document["examples"] = [example] }
        return .object(document)
    }
}
