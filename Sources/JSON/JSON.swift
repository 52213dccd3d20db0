/// A JSON value as Urd speaks it: no fractions, because what is hashed must have one spelling.
///
/// Strings compare as Swift compares them, so that two names of an object that look alike (é as one
/// scalar or as two) count as the same name, and such an object is refused as having it twice.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// The integers that every JSON reader keeps exactly (RFC 8259 section 6): no others are read,
    /// and none should be written.
    public static let exactIntegers: ClosedRange<Int64> =
        -9_007_199_254_740_991...9_007_199_254_740_991
}

extension JSON {
    /// A member of an object; nil when it isn't there or this isn't an object.
    public subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// An element of an array; nil when it isn't there or this isn't an array.
    public subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else {
            return nil
        }
        return elements[index]
    }

    public var isNull: Bool { self == .null }

    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    public var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    public var array: [JSON]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    public var object: JSONObject? {
        guard case .object(let value) = self else { return nil }
        return value
    }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    public init(stringLiteral value: String) {
        self = .string(value)
    }

    public init(arrayLiteral elements: JSON...) {
        self = .array(elements)
    }

    /// Of a duplicate key, the last value counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements))
    }
}
