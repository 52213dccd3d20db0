extension JSON {
    /// RFC 8785: the one spelling of this value, which is what gets hashed and signed.
    public func canonical() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(256)
        write(into: &output)
        return output
    }

    /// Appends the RFC 8785 spelling. Integers outside of `exactIntegers` are written as they are,
    /// although no parser of ours will read them: refuse them where they come in.
    public func write(into output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(true): output.append(contentsOf: "true".utf8)
        case .bool(false): output.append(contentsOf: "false".utf8)
        case .integer(let value): output.append(decimal: value)
        case .string(let text): output.append(quoting: text)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                element.write(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members): members.write(into: &output)
        }
    }

    /// For people: indented by two spaces, names in canonical order.
    public func pretty() -> String {
        var output: [UInt8] = []
        writePretty(into: &output, indentation: 0)
        return String(decoding: output, as: UTF8.self)
    }

    private func writePretty(into output: inout [UInt8], indentation: Int) {
        func line(_ indentation: Int) {
            output.append(UInt8(ascii: "\n"))
            output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation))
        }
        switch self {
        case .array(let elements) where !elements.isEmpty:
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                line(indentation + 2)
                element.writePretty(into: &output, indentation: indentation + 2)
            }
            line(indentation)
            output.append(UInt8(ascii: "]"))
        case .object(let members) where !members.isEmpty:
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.inCanonicalOrder.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                line(indentation + 2)
                output.append(quoting: member.key)
                output.append(contentsOf: ": ".utf8)
                member.value.writePretty(into: &output, indentation: indentation + 2)
            }
            line(indentation)
            output.append(UInt8(ascii: "}"))
        case .null, .bool, .integer, .string, .array, .object:
            write(into: &output)
        }
    }
}

extension JSONObject {
    /// Those of the members that are wanted.
    func write(into output: inout [UInt8], where isWanted: (String) -> Bool = { _ in true }) {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for (name, value) in inCanonicalOrder where isWanted(name) {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            output.append(quoting: name)
            output.append(UInt8(ascii: ":"))
            value.write(into: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension [UInt8] {
    mutating func append(decimal value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        // As many as the largest number has.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.count
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<digits.count { append(digits[index]) }
    }

    /// Escapes what must be escaped and nothing else, as RFC 8785 section 3.2.2.2 has it.
    mutating func append(quoting text: String) {
        append(UInt8(ascii: "\""))
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            var start = 0
            while true {
                let end = firstEscape(in: bytes, from: start)
                append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<end]))
                guard end < bytes.count else { return }
                append(escaping: bytes[end])
                start = end + 1
            }
        }
        if isDone == nil {
            for byte in text.utf8 { append(escaping: byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append(contentsOf: #"\""#.utf8)
        case UInt8(ascii: "\\"): append(contentsOf: #"\\"#.utf8)
        case 0x08: append(contentsOf: #"\b"#.utf8)
        case 0x09: append(contentsOf: #"\t"#.utf8)
        case 0x0A: append(contentsOf: #"\n"#.utf8)
        case 0x0C: append(contentsOf: #"\f"#.utf8)
        case 0x0D: append(contentsOf: #"\r"#.utf8)
        case 0..<0x20:
            append(contentsOf: #"\u00"#.utf8)
            append(0x30 + byte >> 4)
            append(byte & 15 < 10 ? 0x30 + byte & 15 : 0x57 + byte & 15)
        default: append(byte)
        }
    }
}

/// Where the first byte from `start` on is that needs an escape; the end where none does. It looks at
/// eight bytes at a time: in most texts there is none.
private func firstEscape(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    var index = start
    while index + 8 <= bytes.count,
        !mayNeedEscape(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    {
        index += 8
    }
    while index < bytes.count, !needsEscape(bytes[index]) { index += 1 }
    return index
}

/// Never misses one; a byte behind one that needs an escape may seem to need one as well.
private func mayNeedEscape(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let found =
        (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
    return found & (ones &* 0x80) != 0
}

private func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
}
