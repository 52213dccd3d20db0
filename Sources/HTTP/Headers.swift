internal import Values

/// Header fields in their order. Names compare without case, and what could end a line never gets
/// in, so that a value that a client sent can't split a response.
public struct Headers: Sendable, Equatable {
    private var fields: [Field] = []

    private struct Field: Sendable, Equatable {
        let name: String
        let value: String
    }

    public init() {}

    /// Adds a field behind the others. Control characters fall out of the value, spaces off its
    /// ends; a name that is no token (RFC 9110 section 5.6.2) adds nothing.
    public mutating func append(_ name: String, _ value: String) {
        guard isToken(name) else { return }
        fields.append(Field(name: name, value: fieldValue(value)))
    }

    /// The first value of that name. Setting replaces all fields of the name where the first one
    /// stood; setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { isSameName($0.name, name) }?.value }
        set {
            guard let place = fields.firstIndex(where: { isSameName($0.name, name) }) else {
                if let newValue { append(name, newValue) }
                return
            }
            guard let newValue, isToken(name) else {
                fields.removeAll { isSameName($0.name, name) }
                return
            }
            fields[place] = Field(name: name, value: fieldValue(newValue))
            while let other = fields.lastIndex(where: { isSameName($0.name, name) }), other > place
            {
                fields.remove(at: other)
            }
        }
    }

    /// Adds the other headers whose names are not there yet.
    public mutating func fill(from others: Headers) {
        let known = fields.count
        // With room for what else an answer gets.
        fields.reserveCapacity(known + others.fields.count + 2)
        for field in others.fields
        where !fields[..<known].contains(where: { isSameName($0.name, field.name) }) {
            fields.append(field)
        }
    }

    /// Every value of the header, in order: for callers that must know that there is just one.
    public func all(_ name: String) -> [String] {
        fields.compactMap { isSameName($0.name, name) ? $0.value : nil }
    }

    public mutating func removeAll(_ name: String) {
        self[name] = nil
    }
}

extension Headers: RandomAccessCollection {
    public var startIndex: Int { 0 }

    public var endIndex: Int { fields.count }

    public subscript(index: Int) -> (name: String, value: String) {
        (fields[index].name, fields[index].value)
    }
}

extension Headers: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}

private func isSameName(_ left: String, _ right: String) -> Bool {
    // Most names differ here already.
    guard left.utf8.count == right.utf8.count,
        left.utf8.first.map(lowercased) == right.utf8.first.map(lowercased)
    else { return false }
    return left == right
        || zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
}

private func isToken(_ name: String) -> Bool {
    !name.isEmpty
        && name.allBytesSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
            default: false
            }
        }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

private func isAllowedInValue(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
}

/// The value without control characters; most often the value itself.
private func fieldValue(_ value: String) -> String {
    let isClean =
        value.allBytesSatisfy(isAllowedInValue)
        && !(value.utf8.first.map(isSpace) ?? false) && !(value.utf8.last.map(isSpace) ?? false)
    if isClean { return value }
    var bytes = value.utf8.filter(isAllowedInValue)[...]
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return String(decoding: bytes.drop(while: isSpace), as: UTF8.self)
}
