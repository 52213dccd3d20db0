internal import Values

/// Reads filters in the syntax of SCIM (RFC 7644 section 3.4.2.2): `not` binds before `and`, and `and`
/// before `or`. Attributes and operators are read without case, values as they are written.
public struct FilterParser {
    public static let mostCharacters = 2000
    public static let mostComparisons = 20
    public static let mostValues = 50
    public static let deepest = 5

    private let vocabulary: FilterVocabulary
    private var tokens: [FilterToken]
    private var next = 0
    private var comparisons = 0

    public static func expression(
        of text: String, _ vocabulary: FilterVocabulary
    ) throws(FilterFault) -> FilterExpression {
        guard text.unicodeScalars.count <= mostCharacters else {
            throw FilterFault(at: mostCharacters, expected: "its end: it is too long")
        }
        var parser = FilterParser(
            vocabulary: vocabulary, tokens: try FilterScanner.tokens(of: text))
        let expression = try parser.alternatives(0)
        guard parser.token.kind == .end else {
            throw FilterFault(at: parser.token.place, expected: "and, or, or its end")
        }
        return expression
    }

    /// A comparison that a parameter of its own stands for.
    public static func comparison(
        _ name: String, _ text: String, _ vocabulary: FilterVocabulary
    ) throws(FilterFault) -> FilterExpression {
        guard let attribute = vocabulary[name] else {
            preconditionFailure("A parameter stands for an attribute.")
        }
        guard !text.utf8.contains(0) else {
            throw FilterFault(at: 0, expected: "a text that has no character 0")
        }
        let number = attribute.kinds == .integer ? Int64(text) : nil
        let token = FilterToken(kind: number.map { .number($0) } ?? .text(text), place: 0)
        let value = try value(of: token, attribute, .equal)
        return .comparison(FilterComparison(attribute, .equal, [value]))
    }

    private var token: FilterToken { tokens[next] }

    private func isWord(_ word: String) -> Bool {
        guard case .word(let written) = token.kind else { return false }
        return written.lowercased() == word
    }

    private mutating func alternatives(_ depth: Int) throws(FilterFault) -> FilterExpression {
        var parts = [try together(depth)]
        while isWord("or") {
            next += 1
            parts.append(try together(depth))
        }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func together(_ depth: Int) throws(FilterFault) -> FilterExpression {
        var parts = [try factor(depth)]
        while isWord("and") {
            next += 1
            parts.append(try factor(depth))
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func factor(_ depth: Int) throws(FilterFault) -> FilterExpression {
        let isNegated = isWord("not") && tokens[next + 1].kind == .opening
        if isNegated { next += 1 }
        guard token.kind == .opening else { return try comparison() }
        guard depth < Self.deepest else {
            throw FilterFault(
                at: token.place, expected: "at most \(Self.deepest) parentheses within each other")
        }
        next += 1
        let inner = try alternatives(depth + 1)
        guard token.kind == .closing else {
            throw FilterFault(at: token.place, expected: "and, or, or )")
        }
        next += 1
        return isNegated ? .not(inner) : inner
    }

    private mutating func comparison() throws(FilterFault) -> FilterExpression {
        let attribute = try self.attribute()
        comparisons += 1
        guard comparisons <= Self.mostComparisons else {
            throw FilterFault(
                at: token.place, expected: "at most \(Self.mostComparisons) comparisons")
        }
        next += 1
        let operation = try self.operation(of: attribute)
        let place = token.place
        next += 1
        if operation == .present {
            return .comparison(FilterComparison(attribute, operation, [], place: place))
        }
        let valuePlace = token.place
        let values =
            operation == .in
            ? try list(attribute) : [try Self.value(of: token, attribute, operation)]
        if operation != .in { next += 1 }
        return .comparison(FilterComparison(attribute, operation, values, place: valuePlace))
    }

    private func attribute() throws(FilterFault) -> FilterAttribute {
        guard case .word(let written) = token.kind else {
            throw FilterFault(at: token.place, expected: "an attribute, not ( or (")
        }
        let name = written.lowercased()
        guard let attribute = vocabulary[name] else {
            throw FilterFault(
                at: token.place, expected: "an attribute",
                "There is no attribute '\(written.prefix(60))'"
                    + NearestName.hint(for: name, among: vocabulary.names).sentence)
        }
        return attribute
    }

    private func operation(
        of attribute: FilterAttribute
    ) throws(FilterFault) -> FilterOperation {
        let all = attribute.operations.map(\.rawValue)
        let listed = all.count == 1 ? all[0] : "one of \(all.joined(separator: ", "))"
        guard case .word(let written) = token.kind else {
            throw FilterFault(at: token.place, expected: listed)
        }
        guard let operation = FilterOperation(rawValue: written.lowercased()) else {
            throw FilterFault(
                at: token.place, expected: listed,
                "There is no operator '\(written.prefix(60))'.")
        }
        guard attribute.operations.contains(operation) else {
            throw FilterFault(
                at: token.place, expected: listed,
                "\(attribute.name) is not compared with \(operation.rawValue).")
        }
        return operation
    }

    private mutating func list(
        _ attribute: FilterAttribute
    ) throws(FilterFault) -> [FilterValue] {
        guard token.kind == .listOpening else {
            throw FilterFault(at: token.place, expected: "a list such as [\"a\", \"b\"]")
        }
        var values: [FilterValue] = []
        repeat {
            next += 1
            guard values.count < Self.mostValues else {
                throw FilterFault(
                    at: token.place, expected: "at most \(Self.mostValues) values in a list")
            }
            values.append(try Self.value(of: token, attribute, .in))
            next += 1
        } while token.kind == .comma
        guard token.kind == .listClosing else {
            throw FilterFault(at: token.place, expected: ", or ]")
        }
        next += 1
        return values
    }
}

extension FilterParser {
    private static func value(
        of token: FilterToken, _ attribute: FilterAttribute, _ operation: FilterOperation
    ) throws(FilterFault) -> FilterValue {
        let kinds = attribute.kinds
        let isPart = [.starts, .contains, .ends].contains(operation)
        switch token.kind {
        case .text(let text):
            if let value = value(of: text, isPart ? .text : kinds, attribute.source) {
                try check(text, of: attribute, operation, token.place)
                return value
            }
        case .number(let number) where !isPart:
            if kinds.contains(.integer) { return .integer(number) }
            // Fields have their times in seconds.
            if kinds.contains(.time), case .field = attribute.source {
                return .time(Timestamp(seconds: number))
            }
        case .word(let word) where kinds.contains(.boolean) && !isPart:
            if ["true", "false"].contains(word.lowercased()) {
                return .boolean(word.lowercased() == "true")
            }
        default: break
        }
        throw FilterFault(at: token.place, expected: expectation(of: isPart ? .text : kinds))
    }

    private static func value(
        of text: String, _ kinds: FilterAttribute.Kinds, _ source: FilterAttribute.Source
    ) -> FilterValue? {
        if kinds.contains(.id), let id = UUID(text) {
            // Fields have ids as texts, in one spelling.
            if case .field = source { return .text(id.description) }
            return .id(id)
        }
        if kinds.contains(.text) { return .text(text) }
        guard kinds.contains(.time) else { return nil }
        let isDay = text.utf8.count == 10
        return Timestamp(rfc3339: isDay ? text + "T00:00:00Z" : text).map { .time($0) }
    }

    /// Refuses a value that the attribute can never have.
    private static func check(
        _ text: String, of attribute: FilterAttribute, _ operation: FilterOperation, _ place: Int
    ) throws(FilterFault) {
        guard [.equal, .notEqual, .in].contains(operation), !attribute.choices.isEmpty,
            !attribute.choices.contains(text)
        else { return }
        throw FilterFault(
            at: place, expected: "a known \(attribute.name)",
            "There is no \(attribute.name) '\(text.prefix(60))'"
                + NearestName.hint(for: text, among: attribute.choices).sentence)
    }

    private static func expectation(of kinds: FilterAttribute.Kinds) -> String {
        var words: [String] = []
        if kinds.contains(.text) { words.append("a text in quotes") }
        if kinds.contains(.id), !kinds.contains(.text) { words.append("an id in quotes") }
        if kinds.contains(.integer) { words.append("a whole number") }
        if kinds.contains(.time) {
            words.append("a time in quotes such as \"2026-11-22T12:00:00Z\"")
        }
        if kinds.contains(.boolean) { words.append("true or false") }
        return words.joined(separator: " or ")
    }
}

extension String {
    /// The text with a full stop, unless it ends with a question mark.
    fileprivate var sentence: String { hasSuffix("?") ? self : self + "." }
}
