internal import JSON
internal import Values

/// A value that a member of an answer may have, and how it is encoded.
protocol AnswerValue: Sendable {
    var json: JSON { get }
}

/// A value of one form wherever it stands: its type says the schema.
protocol UniformAnswerValue: AnswerValue {
    static var schema: Schema { get }
    /// The example where the member has none of its own.
    static var example: JSON { get }
}

extension UUID: UniformAnswerValue {
    static let schema = Fields.id
    static let example: JSON = "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"
    var json: JSON { .string(description) }
}

extension Timestamp: UniformAnswerValue {
    static let schema = Fields.time
    static let example: JSON = "2026-11-21T01:23:45.123456Z"
    var json: JSON { .string(description) }
}

extension Bool: UniformAnswerValue {
    static let schema = Schema.boolean
    static let example: JSON = true
    var json: JSON { .bool(self) }
}

extension String: AnswerValue {
    var json: JSON { .string(self) }
}

extension Int64: AnswerValue {
    var json: JSON { .integer(self) }
}

extension Int: AnswerValue {
    var json: JSON { .integer(Int64(self)) }
}

extension Array: AnswerValue where Element: AnswerValue {
    var json: JSON { .array(map(\.json)) }
}

extension JSONObject: AnswerValue {
    var json: JSON { .object(self) }
}

extension JSON: AnswerValue {
    var json: JSON { self }
}
