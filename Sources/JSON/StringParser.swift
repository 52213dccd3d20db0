extension Parser {
    /// Stands on the opening quotation mark; ends behind the closing one.
    mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let text = try text(of: bytes.span.extracting(start..<position), from: start)
                position += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else {
                throw JSONError(offset: position, reason: .controlCharacter)
            }
            position += 1
        }
        throw unexpected()
    }

    /// The rare way: with escapes the string's bytes are not those of the text.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var unescaped = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                let text = try text(of: unescaped.span, from: start)
                position += 1
                return text
            case UInt8(ascii: "\\"):
                unescaped.append(contentsOf: Unicode.UTF8.bytes(of: try escape()))
            case 0..<0x20:
                throw JSONError(offset: position, reason: .controlCharacter)
            default:
                unescaped.append(byte)
                position += 1
            }
        }
        throw unexpected()
    }

    /// Makes the string, when it is UTF-8. Escapes are ASCII and complete in themselves, so that the
    /// input is broken where the string is.
    private func text(of span: Span<UInt8>, from start: Int) throws(JSONError) -> String {
        if let valid = try? UTF8Span(validating: span) { return String(copying: valid) }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span.extracting(start..<position))
            return ""
        } catch {
            throw JSONError(offset: start + error.byteOffsets.lowerBound, reason: .invalidUTF8)
        }
    }

    /// Stands on the backslash; ends behind the escape.
    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        let byte = current
        guard position < bytes.count else { throw unexpected() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(from: start)
        default: throw JSONError(offset: start, reason: .invalidEscape)
        }
    }

    /// Stands behind `\u`; a high surrogate takes the low one that must follow it along.
    private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try fourDigits(from: start)
        if first == 0, !limits.takesNull {
            throw JSONError(offset: start, reason: .nullCharacter)
        }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, current == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONError(offset: start, reason: .loneSurrogate) }
        let secondStart = position
        position += 2
        let second = try fourDigits(from: secondStart)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw JSONError(offset: start, reason: .loneSurrogate) }
        return scalar
    }

    private mutating func fourDigits(from start: Int) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count else { throw unexpected() }
            let digit: UInt8
            switch bytes[position] {
            case let byte where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
            case let byte where byte >= 0x41 && byte <= 0x46: digit = byte - 0x37
            case let byte where byte >= 0x61 && byte <= 0x66: digit = byte - 0x57
            default: throw JSONError(offset: start, reason: .invalidEscape)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

extension Unicode.UTF8 {
    fileprivate static func bytes(of scalar: Unicode.Scalar) -> [UInt8] {
        Array(String(scalar).utf8)
    }
}
