public import JSON
internal import Values

/// The first thing about a value that its schema forbids.
public struct SchemaViolation: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case missing
        case unknown
        case malformed(String)
    }

    /// Names the value within the whole, such as `redirect_uris/0`; empty for the whole itself.
    public let field: String
    public let reason: Reason
}

extension Schema {
    /// Throws what is wrong first, members in alphabetical order, so that one input always gets
    /// the same answer.
    public func check(_ value: JSON, field: String = "") throws(SchemaViolation) {
        switch self {
        case .text(let rule):
            guard case .string(let text) = value else { throw .mustBe("a string", field) }
            if let wrong = rule.objection(to: text) { throw .mustBe(wrong, field) }
        case .integer(let range):
            guard case .integer(let number) = value else { throw .mustBe("an integer", field) }
            guard range.contains(number) else {
                throw .mustBe("from \(range.lowerBound) to \(range.upperBound)", field)
            }
        case .boolean:
            guard case .bool = value else { throw .mustBe("true or false", field) }
        case .list(let element, let count, let unique):
            try check(value, element, count, unique, field)
        case .object(let rule):
            guard case .object(let members) = value else { throw .mustBe("an object", field) }
            try rule.check(members, field)
        case .openObject:
            guard case .object = value else { throw .mustBe("an object", field) }
        case .map(let schema):
            guard case .object(let members) = value else { throw .mustBe("an object", field) }
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                try schema.check(member, field: joined(field, name))
            }
        case .nullable(let schema):
            if value != .null { try schema.check(value, field: field) }
        case .named(_, let schema):
            try schema.check(value, field: field)
        case .anything, .judged:
            break
        }
    }

    private func check(
        _ value: JSON, _ element: Schema, _ count: ClosedRange<Int>, _ unique: Bool,
        _ field: String
    ) throws(SchemaViolation) {
        guard case .array(let elements) = value else { throw .mustBe("an array", field) }
        guard count.contains(elements.count) else {
            throw .mustBe("\(described(count)) elements long", field)
        }
        for (index, value) in elements.enumerated() {
            try element.check(value, field: joined(field, String(index)))
        }
        if unique && Set(elements).count < elements.count {
            throw .mustBe("without repetitions", field)
        }
    }
}

extension ObjectRule {
    /// Iterates over the members of the object, which mostly are fewer than those of the schema.
    private func holds(for values: JSONObject) -> Bool {
        var missing = requiredCount
        for (name, value) in values {
            guard let member = self[name], (try? member.schema.check(value)) != nil else {
                return false
            }
            if member.isRequired { missing -= 1 }
        }
        return missing == 0
    }

    func check(_ values: JSONObject, _ field: String) throws(SchemaViolation) {
        if holds(for: values) { return }
        for (name, _) in values where self[name] == nil {
            throw SchemaViolation(field: joined(field, name), reason: .unknown)
        }
        for member in members {
            if let value = values[member.name] {
                try member.schema.check(value, field: joined(field, member.name))
            } else if member.isRequired {
                throw SchemaViolation(field: joined(field, member.name), reason: .missing)
            }
        }
    }
}

extension TextRule {
    /// Why the text does not match the pattern; nil for a match.
    func objection(to text: String) -> String? {
        if !values.isEmpty {
            guard !values.contains(text) else { return nil }
            return
                "one of \(values.joined(separator: ", "))\(NearestName.hint(for: text, among: values))"
        }
        // Who typed something else is helped by words, and not by the length of what was expected.
        if case .said(let words, let pattern)? = pattern {
            guard !isLongEnough(text) || !pattern.matches(text) else { return nil }
            return words + NearestName.hint(for: text, among: pattern.names)
        }
        guard isLongEnough(text) else {
            return "\(described(length)) characters long"
        }
        guard let pattern, !pattern.matches(text) else { return nil }
        return pattern.words
    }

    /// A scalar takes one to four bytes: most texts need not be counted.
    private func isLongEnough(_ text: String) -> Bool {
        let bytes = text.utf8.count
        if bytes / 4 > length.upperBound { return false }
        if bytes <= length.upperBound, (bytes + 3) / 4 >= length.lowerBound { return true }
        return length.contains(text.unicodeScalars.count)
    }
}

extension SchemaViolation {
    fileprivate static func mustBe(_ what: String, _ field: String) -> SchemaViolation {
        SchemaViolation(field: field, reason: .malformed("must be \(what)"))
    }
}

private func joined(_ field: String, _ name: String) -> String {
    // The name may be the client's own: a long one is not sent back whole.
    let shown = name.utf8.count > 100 ? String(name.unicodeScalars.prefix(100)) + "…" : name
    return field.isEmpty ? shown : "\(field)/\(shown)"
}

private func described(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
}
