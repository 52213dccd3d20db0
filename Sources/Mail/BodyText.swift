import Values

/// A text as the body of a part: ASCII in lines of at most 76 bytes, each ended by CR and LF.
struct BodyText {
    let encoding: String
    let bytes: [UInt8]

    /// The shorter one of the two encodings. Line ends of any kind become CR and LF; controls other
    /// than the tab fall out.
    init(_ text: String) {
        let lines = BodyText.lines(text)
        let quoted = BodyText.quotedPrintable(lines)
        let size = lines.reduce(0) { $0 + $1.count + 2 }
        if quoted.count <= size / 3 * 4 + size / 57 * 2 + 8 {
            encoding = "quoted-printable"
            bytes = quoted
        } else {
            encoding = "base64"
            bytes = BodyText.base64(lines)
        }
    }

    private static func lines(_ text: String) -> [ArraySlice<UInt8>] {
        let isText = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A }
        let bytes = isText ? Array(text.utf8) : cleaned(text)
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        while lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Each line ended by LF alone, and without controls.
    private static func cleaned(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        var previous: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 0x0A where previous == 0x0D: break
            case 0x0A, 0x0D: output.append(0x0A)
            case 0x09, 0x20...0x7E, 0x80...: output.append(byte)
            default: break
            }
            previous = byte
        }
        return output
    }

    /// RFC 2045 section 6.7. A dot at the beginning of a line is encoded too, and so is the F of
    /// "From ": some servers count the one, and some change the other.
    private static func quotedPrintable(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(lines.reduce(0) { $0 + $1.count + $1.count / 16 + 2 })
        for line in lines {
            var column = 0
            for index in line.indices {
                let byte = line[index]
                let isLast = index == line.endIndex - 1
                let isPlain = isPlain(byte, isLast: isLast)
                // One place stays for the mark of the line's going on.
                if column + (isPlain ? 1 : 3) > (isLast ? 76 : 75) {
                    output += [UInt8(ascii: "="), 0x0D, 0x0A]
                    column = 0
                }
                if isPlain, column > 0 || mayBegin(byte, line[index...]) {
                    output.append(byte)
                    column += 1
                } else {
                    output.append(quoted: byte)
                    column += 3
                }
            }
            output += [0x0D, 0x0A]
        }
        return output
    }

    private static func isPlain(_ byte: UInt8, isLast: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "="), 0x7F...: false
        case 0x09, 0x20: !isLast
        default: true
        }
    }

    private static func mayBegin(_ byte: UInt8, _ rest: ArraySlice<UInt8>) -> Bool {
        switch byte {
        case UInt8(ascii: "."): false
        case UInt8(ascii: "F"): !rest.starts(with: "From ".utf8)
        default: true
        }
    }

    private static func base64(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
        let digits = Array(Base64.encode(lines.flatMap { Array($0) + [0x0D, 0x0A] }).utf8)
        var output: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 76) {
            output += digits[start..<min(start + 76, digits.count)] + [0x0D, 0x0A]
        }
        return output
    }
}
