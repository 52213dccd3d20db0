public import Values

/// A filter that was read and whose attributes are known: see `FilterParser`.
public indirect enum FilterExpression: Sendable, Hashable {
    case comparison(FilterComparison)
    case not(FilterExpression)
    /// Conjunction: all operands hold.
    case all([FilterExpression])
    /// Disjunction: one operand holds; an empty one is false.
    case any([FilterExpression])

    public static let never = FilterExpression.any([])

    /// The conjunction of two expressions, or the one that is there.
    public static func both(
        _ first: FilterExpression?, _ second: FilterExpression?
    ) -> FilterExpression? {
        guard let first, let second else { return first ?? second }
        return .all(first.conjuncts + second.conjuncts)
    }

    public var comparisons: [FilterComparison] {
        switch self {
        case .comparison(let comparison): [comparison]
        case .not(let part): part.comparisons
        case .all(let parts), .any(let parts): parts.flatMap(\.comparisons)
        }
    }

    /// The operands of a conjunction, each of which must hold.
    public var conjuncts: [FilterExpression] {
        guard case .all(let parts) = self else { return [self] }
        return parts.flatMap(\.conjuncts)
    }

    /// Whether it asks the index that says whom events are about.
    public var asksIndex: Bool { comparisons.contains { $0.attribute.source == .index } }

    /// The texts that an attribute must equal somewhere, outside of what is negated.
    public func wanted(of attribute: String) -> Set<String> {
        switch self {
        case .comparison(let comparison):
            guard comparison.attribute.name == attribute,
                [.equal, .in].contains(comparison.operation)
            else { return [] }
            return Set(comparison.values.compactMap(\.asText))
        case .not: return []
        case .all(let parts), .any(let parts):
            return parts.reduce(into: []) { $0.formUnion($1.wanted(of: attribute)) }
        }
    }

    /// The same with something else in the place of each comparison.
    public func replacing<Fault: Error>(
        _ change: (FilterComparison) async throws(Fault) -> FilterExpression
    ) async throws(Fault) -> FilterExpression {
        switch self {
        case .comparison(let comparison): return try await change(comparison)
        case .not(let part): return .not(try await part.replacing(change))
        case .all(let parts): return .all(try await Self.replacing(parts, change))
        case .any(let parts): return .any(try await Self.replacing(parts, change))
        }
    }

    private static func replacing<Fault: Error>(
        _ parts: [FilterExpression],
        _ change: (FilterComparison) async throws(Fault) -> FilterExpression
    ) async throws(Fault) -> [FilterExpression] {
        var changed: [FilterExpression] = []
        for part in parts { changed.append(try await part.replacing(change)) }
        return changed
    }

    /// - Parameter values: those of an attribute; none where it has none.
    public func holds(_ values: (FilterAttribute) -> [FilterValue]) -> Bool {
        switch self {
        case .comparison(let comparison): comparison.holds(for: values(comparison.attribute))
        case .not(let part): !part.holds(values)
        case .all(let parts): parts.allSatisfy { $0.holds(values) }
        case .any(let parts): parts.contains { $0.holds(values) }
        }
    }
}

/// An attribute, how it is compared, and with what.
public struct FilterComparison: Sendable, Hashable {
    public let attribute: FilterAttribute
    public let operation: FilterOperation
    /// Several of `in`, none of `pr`.
    public let values: [FilterValue]
    /// Where in the text its value stands, or its operator where it has none.
    public let place: Int

    public init(
        _ attribute: FilterAttribute, _ operation: FilterOperation, _ values: [FilterValue],
        place: Int = 0
    ) {
        self.attribute = attribute
        self.operation = operation
        self.values = values
        self.place = place
    }

    /// Of an attribute with several values one is enough; `ne` is the contrary of `eq`.
    func holds(for found: [FilterValue]) -> Bool {
        switch operation {
        case .present: !found.isEmpty
        case .notEqual: !FilterComparison(attribute, .equal, values).holds(for: found)
        default: found.contains { value in values.contains { value.meets(operation, $0) } }
        }
    }

    /// The same with other values; `ne` stays the contrary.
    public func with(
        _ attribute: FilterAttribute, _ values: [FilterValue]
    ) -> FilterExpression {
        let equals = values.count == 1 ? FilterOperation.equal : .in
        return switch operation {
        case .notEqual: .not(.comparison(FilterComparison(attribute, equals, values, place: place)))
        case .equal, .in: .comparison(FilterComparison(attribute, equals, values, place: place))
        default: .comparison(FilterComparison(attribute, operation, values, place: place))
        }
    }
}

extension FilterValue {
    public var asText: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    public var asID: UUID? {
        guard case .id(let id) = self else { return nil }
        return id
    }
}
