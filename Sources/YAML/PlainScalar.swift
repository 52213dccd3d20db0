internal import JSON

/// What a scalar without quotes stands for (YAML 1.2, core schema): `off` and `no` are texts, as in JSON Schema.
enum PlainScalar {
    static func value(_ text: String, _ line: Int) throws(YAMLError) -> JSON {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default: break
        }
        guard isNumber(text) else { return .string(text) }
        if let number = Int64(text), JSON.exactIntegers.contains(number), !hasLeadingZero(text) {
            return .integer(number)
        }
        throw YAMLError(
            line, "a number must be whole and without leading zeros: put a text in quotes")
    }

    /// Digits, a sign before them, and what makes a fraction of them.
    private static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            rest = rest.dropFirst()
        }
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        var digits = whole.count
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            digits += fraction.count
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard digits > 0 else { return false }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
                rest = rest.dropFirst()
            }
            guard !rest.isEmpty else { return false }
        }
        return rest.allSatisfy(isDigit)
    }

    private static func hasLeadingZero(_ text: String) -> Bool {
        let digits = text.utf8.drop { !isDigit($0) }
        return digits.count > 1 && digits.first == UInt8(ascii: "0")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
