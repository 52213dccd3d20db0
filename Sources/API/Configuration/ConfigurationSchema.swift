internal import JSON

/// The JSON Schema of a configuration file, by which editors complete and check it.
enum ConfigurationSchema {
    static let path = "/schemas/configuration"
    static let template: PathTemplate = "/schemas/configuration"

    static let document: JSON = {
        let realm: JSON = [
            "type": "object", "additionalProperties": false,
            "description": "Configuration of a realm. What it does not name stays as it is.",
            "properties": .object(
                JSONObject(ConfigurationCatalogue.kinds.map { ($0.name, kind($0)) })),
        ]
        return [
            "$schema": .string(EventSchema.dialect), "$id": .string(path),
            "title": "Configuration of Urd", "type": "object", "additionalProperties": false,
            "required": ["realms"],
            "properties": [
                "$schema": ["type": "string", "description": "Address of this schema."],
                "realms": [
                    "type": "object", "description": "Realms by their names.",
                    "propertyNames": Fields.realm.document, "additionalProperties": realm,
                ],
            ],
        ]
    }()

    private static func kind(_ kind: ConfigurationKind) -> JSON {
        var document: JSONObject =
            switch kind.form {
            case .single: kind.schema.unnamed.document.object ?? [:]
            case .names:
                ["type": "array", "items": kind.schema.unnamed.document, "uniqueItems": true]
            case .things:
                [
                    "type": "object", "propertyNames": kind.keySchema.unnamed.document,
                    "additionalProperties": kind.schema.unnamed.document,
                ]
            }
        document["description"] = .string(kind.about)
        return .object(document)
    }
}

extension Schema {
    /// The same without references to the schemas of another document.
    fileprivate var unnamed: Schema {
        switch self {
        case .named(_, let inner): inner.unnamed
        case .nullable(let inner): .nullable(inner.unnamed)
        case .judged(let inner): .judged(inner.unnamed)
        case .map(let inner): .map(of: inner.unnamed)
        case .list(let inner, let count, let unique):
            .list(of: inner.unnamed, count: count, unique: unique)
        case .object(let rule):
            .object(
                rule.members.map { member in
                    member.isRequired
                        ? .required(
                            member.name, member.schema.unnamed, member.description,
                            example: member.example)
                        : .optional(
                            member.name, member.schema.unnamed, member.description,
                            example: member.example)
                })
        case .text, .integer, .boolean, .openObject, .anything: self
        }
    }
}
