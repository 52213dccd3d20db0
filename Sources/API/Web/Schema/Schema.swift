internal import JSON

/// The shape of a JSON value. One value of this type checks what comes in, is printed into
/// `/openapi.json`, and makes the samples that tests send: they cannot say different things.
public indirect enum Schema: Sendable {
    case text(TextRule)
    case integer(ClosedRange<Int64>)
    case boolean
    case list(of: Schema, count: ClosedRange<Int>, unique: Bool)
    case object(ObjectRule)
    /// Any JSON object.
    case openObject
    /// A JSON object that its route reads by itself, to say more about what is wrong with it. The schema says
    /// what it takes.
    case judged(Schema)
    /// A name for every value, such as the state of each component.
    case map(of: Schema)
    case nullable(Schema)
    /// Printed once under `components` and referred to by this name.
    case named(String, Schema)
    /// Any JSON value at all.
    case anything
}

public struct TextRule: Sendable {
    /// In Unicode scalars, as JSON Schema counts.
    let length: ClosedRange<Int>
    let pattern: Pattern?
    let format: String?
    /// The enumeration of allowed values, if not empty.
    let values: [String]

    init(
        _ length: ClosedRange<Int>, pattern: Pattern? = nil, format: String? = nil,
        values: [String] = []
    ) {
        self.length = length
        self.pattern = pattern
        self.format = format
        self.values = values
    }
}

/// The members that an object may have; every other one is refused by its name.
public struct ObjectRule: Sendable {
    let members: [Member]
    /// By how long their names are: few are as long as another, and a list of few is faster than any hash.
    private let byLength: [[Member]]
    let requiredCount: Int

    init(_ members: [Member]) {
        let names = members.map(\.name)
        precondition(Set(names).count == names.count, "An object has a member once.")
        self.members = members
        let longest = names.map(\.utf8.count).max() ?? 0
        byLength = (0...longest).map { length in members.filter { $0.name.utf8.count == length } }
        requiredCount = members.count(where: \.isRequired)
    }

    subscript(name: String) -> Member? {
        let length = name.utf8.count
        return length < byLength.count ? byLength[length].first { $0.name == name } : nil
    }
}

/// A class because it is looked at for every request, and copied by counting one reference.
public final class Member: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool
    let description: String
    let example: JSON?

    private init(
        _ name: String, _ schema: Schema, isRequired: Bool, _ description: String, _ example: JSON?
    ) {
        self.name = name
        self.schema = schema
        self.isRequired = isRequired
        self.description = description
        self.example = example
    }

    static func required(
        _ name: String, _ schema: Schema, _ description: String, example: JSON? = nil
    ) -> Member {
        Member(name, schema, isRequired: true, description, example)
    }

    static func optional(
        _ name: String, _ schema: Schema, _ description: String, example: JSON? = nil
    ) -> Member {
        Member(name, schema, isRequired: false, description, example)
    }
}

extension Schema {
    static func text(_ length: ClosedRange<Int>) -> Schema { .text(TextRule(length)) }

    static func text(
        _ length: ClosedRange<Int>, _ pattern: Pattern, format: String? = nil
    ) -> Schema {
        .text(TextRule(length, pattern: pattern, format: format))
    }

    static func oneOf(_ values: [String]) -> Schema {
        .text(TextRule(0...100, values: values))
    }

    static func object(_ members: Member...) -> Schema { .object(ObjectRule(members)) }

    static func object(_ members: [Member]) -> Schema { .object(ObjectRule(members)) }

    static func list(
        of element: Schema, _ count: ClosedRange<Int>, unique: Bool = false
    ) -> Schema {
        .list(of: element, count: count, unique: unique)
    }

    /// The schema itself where it is known by a name.
    var resolved: Schema {
        guard case .named(_, let schema) = self else { return self }
        return schema.resolved
    }
}
