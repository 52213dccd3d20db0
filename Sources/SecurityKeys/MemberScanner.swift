internal import JSON

/// Takes the requested members out of a JSON object, and steps over all others.
///
/// Because `JSON` reads what Urd may hash, and so neither fractions nor broken escapes, but what a
/// browser adds to its client data some day is not ours to refuse. What is asked for is read by
/// `JSON`; of what is stepped over, only the brackets, names, numbers and ends of strings must be
/// right.
struct MemberScanner {
    static let depthLimit = 32

    private let bytes: [UInt8]
    private var position: Int

    init(bytes: [UInt8], from position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Nil when this is no JSON object, and nothing behind it, or has one of these names twice.
    mutating func members(named names: Set<String>) -> JSONObject? {
        var members: JSONObject = [:]
        skipSpace()
        guard take("{") else { return nil }
        skipSpace()
        if take("}") { return isAtEnd() ? members : nil }
        while true {
            skipSpace()
            let start = position
            guard skipString() else { return nil }
            // A name that JSON cannot read is not one of ours.
            let name = parsed(from: start)?.string
            skipSpace()
            guard take(":") else { return nil }
            skipSpace()
            let valueStart = position
            guard skipValue(depth: 1) else { return nil }
            if let name, names.contains(name) {
                guard members[name] == nil, let value = parsed(from: valueStart) else { return nil }
                members[name] = value
            }
            skipSpace()
            if take("}") { return isAtEnd() ? members : nil }
            guard take(",") else { return nil }
        }
    }

    private func parsed(from start: Int) -> JSON? {
        try? JSON.parse(Array(bytes[start..<position]), limits: JSON.Limits(depth: 8))
    }

    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func isAtEnd() -> Bool {
        skipSpace()
        return position == bytes.count
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while [0x20, 0x0A, 0x0D, 0x09].contains(current) { position += 1 }
    }

    private mutating func skipValue(depth: Int) -> Bool {
        guard depth <= MemberScanner.depthLimit else { return false }
        switch current {
        case UInt8(ascii: "\""): return skipString()
        case UInt8(ascii: "{"): return skipList("}", depth: depth, hasNames: true)
        case UInt8(ascii: "["): return skipList("]", depth: depth, hasNames: false)
        case UInt8(ascii: "t"): return skip("true")
        case UInt8(ascii: "f"): return skip("false")
        case UInt8(ascii: "n"): return skip("null")
        default: return skipNumber()
        }
    }

    private mutating func skip(_ word: String) -> Bool {
        for byte in word.utf8 {
            guard current == byte else { return false }
            position += 1
        }
        return true
    }

    private mutating func skipList(
        _ end: Unicode.Scalar, depth: Int, hasNames: Bool
    ) -> Bool {
        position += 1
        skipSpace()
        if take(end) { return true }
        while true {
            skipSpace()
            if hasNames {
                guard skipString() else { return false }
                skipSpace()
                guard take(":") else { return false }
                skipSpace()
            }
            guard skipValue(depth: depth + 1) else { return false }
            skipSpace()
            if take(end) { return true }
            guard take(",") else { return false }
        }
    }

    private mutating func skipString() -> Bool {
        guard take("\"") else { return false }
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return true
            case UInt8(ascii: "\\"):
                // What follows the second character of an escape reads as ordinary characters.
                position += 2
            case 0..<0x20:
                return false
            default:
                position += 1
            }
        }
        return false
    }

    private mutating func skipNumber() -> Bool {
        _ = take("-")
        // A number of several digits does not begin with a zero.
        let startsWithZero = current == UInt8(ascii: "0")
        let digits = skipDigits()
        guard digits == 1 || digits > 1 && !startsWithZero else { return false }
        if take("."), skipDigits() == 0 { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            return skipDigits() > 0
        }
        return true
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while (0x30...0x39).contains(current) { position += 1 }
        return position - start
    }
}
