import JSON

/// What must hold for any bytes; the sentence says what broke. Tests and fuzzers share it.
func brokenParserProperty(of bytes: [UInt8]) -> String? {
    let value: JSON
    do {
        value = try JSON.parse(bytes)
    } catch {
        if error.offset < 0 || error.offset > bytes.count { return "an offset is out of the text" }
        return nil
    }
    if String(validating: bytes, as: UTF8.self) == nil { return "invalid UTF-8 was read" }
    let pretty = Array(value.pretty().utf8)
    guard let again = try? JSON.parse(pretty, limits: JSON.Limits(size: .max)), again == value
    else { return "the form for people is another value" }
    if again.canonical() != value.canonical() { return "the form for people changes bytes" }
    return brokenCanonicalProperty(of: value)
}

/// What must hold for any value that the parser may return.
func brokenCanonicalProperty(of value: JSON) -> String? {
    let written = value.canonical()
    guard String(validating: written, as: UTF8.self) != nil else { return "wrote no UTF-8" }
    guard let again = try? JSON.parse(written, limits: JSON.Limits(size: .max)) else {
        return "the canonical form can't be read"
    }
    if again != value { return "the canonical form is another value" }
    if again.canonical() != written { return "the canonical form is no fixed point" }
    if written != Array(referenceForm(of: value).utf8) { return "the reference writes otherwise" }
    return nil
}

/// RFC 8785 written again, as slowly and plainly as can be.
private func referenceForm(of value: JSON) -> String {
    switch value {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .integer(let value): return String(value)
    case .string(let text): return referenceForm(of: text)
    case .array(let elements):
        return "[" + elements.map(referenceForm(of:)).joined(separator: ",") + "]"
    case .object(let members):
        let names = members.keys.sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) }
        let parts = names.map { name in
            referenceForm(of: name) + ":" + (members[name].map(referenceForm(of:)) ?? "")
        }
        return "{" + parts.joined(separator: ",") + "}"
    }
}

private func referenceForm(of text: String) -> String {
    var result = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": result.append(contentsOf: ["\\", scalar])
        case "\u{8}": result.append(contentsOf: "\\b".unicodeScalars)
        case "\t": result.append(contentsOf: "\\t".unicodeScalars)
        case "\n": result.append(contentsOf: "\\n".unicodeScalars)
        case "\u{C}": result.append(contentsOf: "\\f".unicodeScalars)
        case "\r": result.append(contentsOf: "\\r".unicodeScalars)
        case "\0"..<" ":
            let digits = String(scalar.value, radix: 16)
            let zeros = String(repeating: "0", count: 4 - digits.count)
            result.append(contentsOf: ("\\u" + zeros + digits).unicodeScalars)
        default: result.append(scalar)
        }
    }
    result.append("\"")
    return String(result)
}

/// Makes a value out of any bytes, so that a fuzzer reaches what no text leads to.
struct ValueMaker {
    private var rest: ArraySlice<UInt8>

    static func value(from bytes: [UInt8]) -> JSON {
        var maker = ValueMaker(rest: bytes[...])
        return maker.value(depth: 0)
    }

    private mutating func value(depth: Int) -> JSON {
        let kind = rest.popFirst() ?? 0
        switch depth < 60 ? kind % 8 : kind % 5 {
        case 0: return .null
        case 1: return .bool(kind >= 128)
        case 2, 3:
            let bits = (0..<8).reduce(Int64(0)) { sum, _ in sum << 8 | Int64(rest.popFirst() ?? 0) }
            return .integer(bits % (JSON.exactIntegers.upperBound + 1))
        case 4: return .string(text())
        case 5:
            return .array((0..<Int(kind / 32)).map { _ in value(depth: depth + 1) })
        default:
            var members: JSONObject = [:]
            for _ in 0..<Int(kind / 16) { members[text()] = value(depth: depth + 1) }
            return .object(members)
        }
    }

    private mutating func text() -> String {
        let count = Int(rest.popFirst() ?? 0) % 24
        let bytes = rest.prefix(count)
        rest = rest.dropFirst(count)
        return String(decoding: bytes, as: UTF8.self)
    }
}
