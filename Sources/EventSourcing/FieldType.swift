public import JSON

/// What a field of an event holds.
public indirect enum FieldType: Sendable, Equatable {
    case text
    /// A text out of an enumeration.
    case choice([String])
    case integer
    case boolean
    case uuid
    /// Seconds since the epoch (1970).
    case time
    /// In base64url.
    case bytes
    case list(FieldType)
    case object

    /// The type as JSON Schema (2020-12).
    public var schema: JSONObject {
        switch self {
        case .text: ["type": "string"]
        case .choice(let values):
            ["type": "string", "enum": .array(values.map { .string($0) })]
        case .integer: ["type": "integer"]
        case .boolean: ["type": "boolean"]
        case .uuid: ["type": "string", "format": "uuid"]
        case .time: ["type": "integer", "format": "unix-time"]
        case .bytes:
            [
                "type": "string", "contentEncoding": "base64url",
                "pattern": "^[A-Za-z0-9_-]*$",
            ]
        case .list(let element): ["type": "array", "items": .object(element.schema)]
        case .object: ["type": "object"]
        }
    }
}

extension FieldType {
    /// What stands in examples.
    public var example: JSON {
        switch self {
        case .text: "example"
        case .choice(let values): .string(values.first ?? "")
        case .integer: 1
        case .boolean: true
        case .uuid: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"
        case .time: 1_795_694_400
        case .bytes: "ZXhhbXBsZQ"
        case .list(let element): [element.example]
        case .object: [:]
        }
    }
}

extension FieldType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .text: "text"
        case .choice(let values): values.joined(separator: "|")
        case .integer: "integer"
        case .boolean: "boolean"
        case .uuid: "uuid"
        case .time: "time"
        case .bytes: "bytes"
        case .list(let element): "[\(element)]"
        case .object: "object"
        }
    }
}
