internal import Identity
internal import JSON

/// A value beside the body: in the path, in the query, or in a header.
struct Parameter: Sendable {
    enum Location: String, Sendable {
        case path, query, header
    }

    let name: String
    let place: Location
    let schema: Schema
    let isRequired: Bool
    let description: String
    let example: JSON?
    /// What a limited admin key needs on top of its route's permission where it gives this parameter.
    let permission: AdminPermission?

    init(
        _ name: String, in place: Location, _ schema: Schema, required: Bool = false,
        _ description: String, example: JSON? = nil, permission: AdminPermission? = nil
    ) {
        self.name = name
        self.place = place
        self.schema = schema
        self.isRequired = required || place == .path
        self.description = description
        self.example = example
        self.permission = permission
    }

    /// Reads the parameter's text as its schema wants it.
    func value(of text: String) throws(Problem) -> JSON {
        try schema.value(of: text, name: name, otherwise: .invalidParameter)
    }
}

extension Schema {
    /// Reads a text from outside of JSON as this schema wants it; what it can't be is refused as
    /// the given kind.
    func value(
        of text: String, name: String, otherwise kind: ProblemKind
    ) throws(Problem) -> JSON {
        let value = try converted(text, name: name, otherwise: kind)
        do {
            try check(value, field: name)
        } catch {
            guard case .malformed(let sentence) = error.reason else {
                throw Problem(kind, field: name)
            }
            throw Problem(kind, "\(name) \(sentence).", field: name)
        }
        return value
    }

    /// The same for who checks the whole that it belongs to.
    func converted(
        _ text: String, name: String, otherwise kind: ProblemKind
    ) throws(Problem) -> JSON {
        switch resolved {
        case .integer(let range):
            guard let number = decimal(text) else {
                throw Problem(
                    kind,
                    "\(name) must be a whole number from \(range.lowerBound) to "
                        + "\(range.upperBound).", field: name)
            }
            return .integer(number)
        case .boolean:
            guard text == "true" || text == "false" else {
                throw Problem(kind, "\(name) must be true or false.", field: name)
            }
            return .bool(text == "true")
        case .text, .list, .object, .openObject, .judged, .map, .nullable, .named, .anything:
            return .string(text)
        }
    }
}

/// Digits alone, without a sign or a leading zero: one number has one spelling.
private func decimal(_ text: String) -> Int64? {
    let digits = text.utf8
    guard digits.allSatisfy({ (48...57).contains($0) }),
        digits.count == 1 || digits.first != UInt8(ascii: "0")
    else { return nil }
    return Int64(text)
}
