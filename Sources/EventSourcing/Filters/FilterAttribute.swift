/// What a filter may ask of an event or a sign-in, such as `type` or `fields.reason`.
public struct FilterAttribute: Sendable, Hashable {
    /// The types of an attribute's values. None: the filter can only test for its presence.
    public struct Kinds: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        public static let text = Self(rawValue: 1 << 0)
        public static let id = Self(rawValue: 1 << 1)
        public static let integer = Self(rawValue: 1 << 2)
        public static let time = Self(rawValue: 1 << 3)
        public static let boolean = Self(rawValue: 1 << 4)
    }

    /// The source of an attribute's values.
    public enum Source: Sendable, Hashable {
        /// A column of what is asked.
        case column
        /// The index that says whom an event is about (`docs/event-index.md`).
        case index
        /// A field of the event, by its name.
        case field(String)
        /// An alias for other attributes, which replace it before the evaluation.
        case stand
    }

    public let name: String
    public let kinds: Kinds
    public let source: Source
    public let operations: [FilterOperation]
    /// The enumeration of allowed values, if not empty.
    public let choices: [String]

    public init(
        _ name: String, _ kinds: Kinds, _ source: Source = .column,
        operations: [FilterOperation]? = nil, choices: [String] = []
    ) {
        self.name = name
        self.kinds = kinds
        self.source = source
        self.operations = operations ?? FilterOperation.all(of: kinds)
        self.choices = choices
    }
}

/// How an attribute is compared (RFC 7644 section 3.4.2.2), and `in`: with any of a list.
public enum FilterOperation: String, Sendable, Hashable, CaseIterable {
    case equal = "eq"
    case notEqual = "ne"
    case greater = "gt"
    case greaterOrEqual = "ge"
    case less = "lt"
    case lessOrEqual = "le"
    case starts = "sw"
    case contains = "co"
    case ends = "ew"
    case `in`
    case present = "pr"

    /// Ids and truth have no order, and only texts have parts.
    static func all(of kinds: FilterAttribute.Kinds) -> [FilterOperation] {
        guard !kinds.isEmpty else { return [.present] }
        let isText = kinds.contains(.text)
        let isOrdered = isText || !kinds.isDisjoint(with: [.integer, .time])
        return allCases.filter { operation in
            switch operation {
            case .equal, .notEqual, .in, .present: true
            case .greater, .greaterOrEqual, .less, .lessOrEqual: isOrdered
            case .starts, .contains, .ends: isText
            }
        }
    }
}

/// The attributes that a filter may name.
public struct FilterVocabulary: Sendable {
    private let attributes: [String: FilterAttribute]

    public init(_ attributes: [FilterAttribute]) {
        self.attributes = Dictionary(
            attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        precondition(self.attributes.count == attributes.count, "An attribute stands once.")
    }

    /// The attribute names in alphabetical order.
    public var names: [String] { attributes.keys.sorted() }

    public subscript(name: String) -> FilterAttribute? { attributes[name] }
}
