public import JSON
public import Values

/// What a filter compares. Texts are compared by their bytes, as the database does it.
public enum FilterValue: Sendable, Hashable {
    case text([UInt8])
    case id(UUID)
    case integer(Int64)
    case time(Timestamp)
    case boolean(Bool)
    /// An object with members: it equals no value.
    case object

    public static func text(_ text: String) -> FilterValue { .text(Array(text.utf8)) }

    /// A field of an event: a list is each of its elements.
    public static func all(in json: JSON?) -> [FilterValue] {
        switch json {
        case nil, .null: []
        case .bool(let value): [.boolean(value)]
        case .integer(let value): [.integer(value)]
        case .string(let value): [.text(value)]
        case .object: [.object]
        case .array(let elements):
            elements.flatMap { element in
                if case .array = element { return [FilterValue.object] }
                return all(in: element)
            }
        }
    }

    /// Whether a value is so compared with this one of a filter.
    func meets(_ operation: FilterOperation, _ wanted: FilterValue) -> Bool {
        switch operation {
        case .equal, .in: order(against: wanted) == .same
        case .greater: order(against: wanted) == .later
        case .less: order(against: wanted) == .earlier
        case .greaterOrEqual: [.same, .later].contains(order(against: wanted))
        case .lessOrEqual: [.same, .earlier].contains(order(against: wanted))
        case .starts, .contains, .ends: hasPart(operation, wanted)
        // What is not equal, and what is there, is not told by one value.
        case .notEqual, .present: false
        }
    }

    private enum Order {
        case earlier, same, later

        init<Value: Comparable>(_ left: Value, _ right: Value) {
            self = left < right ? .earlier : left == right ? .same : .later
        }
    }

    /// Nil for values of different types, which cannot be compared.
    private func order(against other: FilterValue) -> Order? {
        switch (self, other) {
        case (.text(let left), .text(let right)):
            left == right ? .same : left.lexicographicallyPrecedes(right) ? .earlier : .later
        case (.integer(let left), .integer(let right)): Order(left, right)
        case (.time(let left), .time(let right)): Order(left, right)
        // Fields of events have their times in seconds.
        case (.integer(let left), .time(let right)): Order(Timestamp(seconds: left), right)
        case (.id(let left), .id(let right)): left == right ? .same : nil
        case (.boolean(let left), .boolean(let right)): left == right ? .same : nil
        default: nil
        }
    }

    private func hasPart(_ operation: FilterOperation, _ wanted: FilterValue) -> Bool {
        guard case .text(let whole) = self, case .text(let part) = wanted else { return false }
        switch operation {
        case .starts: return whole.starts(with: part)
        case .ends: return whole.count >= part.count && whole.suffix(part.count).elementsEqual(part)
        default:
            guard whole.count >= part.count else { return false }
            return (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
        }
    }
}
