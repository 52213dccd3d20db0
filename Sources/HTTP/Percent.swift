/// Percent-encoding (RFC 3986 section 2.1).
public enum Percent {
    /// Nil when a `%` isn't followed by two hexadecimal digits, or the bytes aren't UTF-8. A plus
    /// sign stays one: only forms read it as a space.
    public static func decode(_ text: String) -> String? {
        decode(Array(text.utf8)[...], plusIsSpace: false)
    }

    /// Escapes all but letters, digits and `-._~`.
    public static func encode(_ text: String) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                output.append(byte)
            } else {
                output.append(escaping: byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Equivalent texts get one spelling (RFC 3986 section 6.2.2).
    static func normal(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return text }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%"), bytes.count - index >= 3,
                let upper = hexValue(bytes[index + 1]), let lower = hexValue(bytes[index + 2])
            else {
                output.append(bytes[index])
                index += 1
                continue
            }
            let byte = upper << 4 | lower
            if isUnreserved(byte) {
                output.append(byte)
            } else {
                output.append(escaping: byte)
            }
            index += 3
        }
        return String(decoding: output, as: UTF8.self)
    }

    static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
        let isPlain = bytes.allSatisfy { byte in
            byte != UInt8(ascii: "%") && !(plusIsSpace && byte == UInt8(ascii: "+"))
        }
        if isPlain { return text(bytes.span) }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "%"):
                guard bytes.endIndex - index >= 2, let upper = hexValue(bytes[index]),
                    let lower = hexValue(bytes[index + 1])
                else { return nil }
                output.append(upper << 4 | lower)
                index += 2
            case UInt8(ascii: "+") where plusIsSpace:
                output.append(0x20)
            default:
                output.append(byte)
            }
        }
        return text(output.span)
    }

    private static func text(_ bytes: Span<UInt8>) -> String? {
        guard let valid = try? UTF8Span(validating: bytes) else { return nil }
        return String(copying: valid)
    }
}

extension [UInt8] {
    mutating func append(escaping byte: UInt8) {
        append(UInt8(ascii: "%"))
        append(hexDigit(byte >> 4))
        append(hexDigit(byte & 15))
    }
}
