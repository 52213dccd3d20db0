extension JSON {
    /// Strict RFC 8259 over bytes: valid UTF-8, no name twice, nothing behind the value, integers
    /// within ±(2^53-1) only.
    public static func parse(_ bytes: [UInt8], limits: Limits = .default) throws(JSONError) -> JSON
    {
        guard bytes.count <= limits.size else {
            throw JSONError(offset: limits.size, reason: .tooLarge)
        }
        var parser = Parser(bytes: bytes, limits: limits)
        let value = try parser.value(depth: 0)
        parser.skipWhitespace()
        guard parser.position == bytes.count else {
            throw JSONError(offset: parser.position, reason: .trailingBytes)
        }
        return value
    }
}

struct Parser {
    let bytes: [UInt8]
    let limits: JSON.Limits
    var position = 0
    /// The members of all objects that are still open: an object that knows its size when it is
    /// made is filled twice as fast as one that grows.
    private var members: [Member] = []

    private struct Member {
        let name: String
        let value: JSON
        let start: Int
    }

    init(bytes: [UInt8], limits: JSON.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// The byte here, or zero at the end: zero is nowhere allowed, so that it needs no second test.
    var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// The error for an unexpected character.
    func unexpected() -> JSONError {
        JSONError(
            offset: position, reason: position < bytes.count ? .unexpectedByte : .unexpectedEnd)
    }

    mutating func value(depth: Int) throws(JSONError) -> JSON {
        skipWhitespace()
        switch current {
        case UInt8(ascii: "\""):
            return .string(try string())
        case UInt8(ascii: "{"):
            return try object(depth: depth + 1)
        case UInt8(ascii: "["):
            return try array(depth: depth + 1)
        case UInt8(ascii: "-"), 0x30...0x39:
            return try number()
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            throw unexpected()
        }
    }

    private mutating func literal(_ text: StaticString) throws(JSONError) {
        for offset in 0..<text.utf8CodeUnitCount {
            guard current == text.utf8Start[offset] else { throw unexpected() }
            position += 1
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        guard depth <= limits.depth else { throw JSONError(offset: position, reason: .tooDeep) }
        position += 1
        skipWhitespace()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array([])
        }
        var elements: [JSON] = []
        while true {
            elements.append(try value(depth: depth))
            if try isClosed(by: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        guard depth <= limits.depth else { throw JSONError(offset: position, reason: .tooDeep) }
        position += 1
        skipWhitespace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object([:])
        }
        let first = members.count
        if members.capacity == 0 { members.reserveCapacity(16) }
        while true {
            skipWhitespace()
            let start = position
            guard current == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try string()
            skipWhitespace()
            guard current == UInt8(ascii: ":") else { throw unexpected() }
            position += 1
            let value = try value(depth: depth)
            members.append(Member(name: name, value: value, start: start))
            if try isClosed(by: UInt8(ascii: "}")) { return .object(try object(from: first)) }
        }
    }

    /// Takes the members of the object that ends here off the stack.
    private mutating func object(from first: Int) throws(JSONError) -> JSONObject {
        defer { members.removeSubrange(first...) }
        let ended = members[first...]
        if let object = JSONObject(read: ended.lazy.map { ($0.name, $0.value) }) { return object }
        var names: Set<String> = []
        let again = ended.first { !names.insert($0.name).inserted }
        throw JSONError(offset: again?.start ?? position, reason: .duplicateKey)
    }

    /// After an element: steps over a comma, or over the bracket that ends the list.
    private mutating func isClosed(by bracket: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        let byte = current
        guard byte == bracket || byte == UInt8(ascii: ",") else { throw unexpected() }
        position += 1
        return byte == bracket
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = position
        do throws(JSONError) {
            return .integer(try integer())
        } catch {
            guard limits.takesFractions,
                error.reason == .notAnInteger || error.reason == .integerOutOfRange
            else { throw error }
            try skipFraction()
            return .string(String(decoding: bytes[start..<position], as: UTF8.self))
        }
    }

    /// From behind the digits before the point to the end of a number.
    private mutating func skipFraction() throws(JSONError) {
        if current == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        guard current | 0x20 == UInt8(ascii: "e") else { return }
        position += 1
        if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
        try skipDigits()
    }

    private mutating func skipDigits() throws(JSONError) {
        let first = position
        while current &- 0x30 < 10 { position += 1 }
        guard position > first else { throw unexpected() }
    }

    /// `-0` is read as zero, which is how RFC 8785 writes it.
    private mutating func integer() throws(JSONError) -> Int64 {
        let start = position
        let isNegative = current == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let first = position
        var magnitude: Int64 = 0
        var isTooLarge = false
        while case let digit = current &- 0x30, digit < 10 {
            // At 2^53 the sum stays far below the end of Int64.
            magnitude = magnitude * 10 + Int64(digit)
            if magnitude > JSON.exactIntegers.upperBound {
                isTooLarge = true
                magnitude = 0
            }
            position += 1
        }
        guard position > first else { throw unexpected() }
        if bytes[first] == 0x30, position > first + 1 {
            throw JSONError(offset: first, reason: .leadingZero)
        }
        switch current {
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            throw JSONError(offset: position, reason: .notAnInteger)
        default:
            break
        }
        if isTooLarge { throw JSONError(offset: start, reason: .integerOutOfRange) }
        return isNegative ? -magnitude : magnitude
    }
}
