internal import JSON

/// A member of the objects of a shape: what it is, and what it is of a view.
struct ShapeMember<View>: Sendable {
    let member: Member
    /// Nil where the example is without it.
    let example: JSON?
    /// Nil where the object of a view is without it.
    let value: @Sendable (View) -> JSON?

    /// A member that every object has.
    static func required<Value: AnswerValue>(
        _ name: String, _ schema: Schema, _ description: String,
        _ value: @escaping @Sendable (View) -> Value, example: JSON
    ) -> Self {
        Self(member: .required(name, schema, description), example: example) { value($0).json }
    }

    static func required<Value: UniformAnswerValue>(
        _ name: String, _ description: String, _ value: @escaping @Sendable (View) -> Value,
        example: JSON = Value.example
    ) -> Self {
        required(name, Value.schema, description, value, example: example)
    }

    /// A member that is null where there is no value.
    static func nullable<Value: AnswerValue>(
        _ name: String, _ schema: Schema, _ description: String,
        _ value: @escaping @Sendable (View) -> Value?, example: JSON = .null
    ) -> Self {
        Self(member: .required(name, .nullable(schema), description), example: example) {
            value($0)?.json ?? .null
        }
    }

    static func nullable<Value: UniformAnswerValue>(
        _ name: String, _ description: String, _ value: @escaping @Sendable (View) -> Value?,
        example: JSON = .null
    ) -> Self {
        nullable(name, Value.schema, description, value, example: example)
    }

    /// A member that is left out where there is no value.
    static func optional<Value: AnswerValue>(
        _ name: String, _ schema: Schema, _ description: String,
        _ value: @escaping @Sendable (View) -> Value?, example: JSON? = nil
    ) -> Self {
        Self(member: .optional(name, schema, description), example: example) { value($0)?.json }
    }

    static func optional<Value: UniformAnswerValue>(
        _ name: String, _ description: String, _ value: @escaping @Sendable (View) -> Value?,
        example: JSON? = nil
    ) -> Self {
        optional(name, Value.schema, description, value, example: example)
    }

    /// A member that follows from more than the view: the handler adds it to the object.
    static func added(_ member: Member, example: JSON? = nil) -> Self {
        Self(member: member, example: example) { _ in nil }
    }
}
