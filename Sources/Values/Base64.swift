/// Base 64 with padding (RFC 4648 section 4), read strictly: one text for one value.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.standard.encode(bytes, isPadded: true)
    }

    /// Nil for whitespace, missing or surplus padding, a foreign character, or trailing bits that
    /// are not zero.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8Span.span
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = text.utf8.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return Base64Alphabet.standard.decode(digits.extracting(droppingLast: padding))
    }
}

/// Base 64 for URLs without padding (RFC 4648 section 5, RFC 7515), read strictly: a token that
/// could be written in two ways could be presented twice.
public enum Base64URL {
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.url.encode(bytes, isPadded: false)
    }

    /// Nil for padding, whitespace, a foreign character, or trailing bits that are not zero.
    public static func decode(_ text: String) -> [UInt8]? {
        Base64Alphabet.url.decode(text.utf8Span.span)
    }
}

struct Base64Alphabet {
    private let digits: [UInt8]
    /// By digit; beyond 63 where it is none.
    private let values: [UInt8]

    /// The two digits in which the alphabets differ.
    private init(sixtyTwo: UInt8, sixtyThree: UInt8) {
        digits =
            Array(0x41...0x5A) + Array(0x61...0x7A) + Array(0x30...0x39) + [sixtyTwo, sixtyThree]
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        self.values = values
    }

    static let standard = Base64Alphabet(
        sixtyTwo: UInt8(ascii: "+"), sixtyThree: UInt8(ascii: "/"))
    static let url = Base64Alphabet(sixtyTwo: UInt8(ascii: "-"), sixtyThree: UInt8(ascii: "_"))

    func encode(_ bytes: [UInt8], isPadded: Bool) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { room in
            var output = 0
            func write(_ group: UInt32, _ count: Int) {
                for position in 0..<count {
                    room[output + position] = digits[Int(group >> UInt32(18 - 6 * position)) & 63]
                }
                output += count
            }
            let rest = bytes.count % 3
            let whole = bytes.count - rest
            for index in stride(from: 0, to: whole, by: 3) {
                let high = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8
                write(high | UInt32(bytes[index + 2]), 4)
            }
            if rest > 0 {
                let low = rest == 2 ? UInt32(bytes[whole + 1]) << 8 : 0
                write(UInt32(bytes[whole]) << 16 | low, rest + 1)
                for _ in rest..<3 where isPadded {
                    room[output] = UInt8(ascii: "=")
                    output += 1
                }
            }
            return output
        }
    }

    /// Digits without padding.
    func decode(_ digits: Span<UInt8>) -> [UInt8]? {
        let rest = digits.count % 4
        guard rest != 1 else { return nil }
        let whole = digits.count - rest
        var all: UInt8 = 0
        var surplus: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 4 * 3 + 2) { room, output in
            func group(_ start: Int, _ count: Int) -> UInt32 {
                var group: UInt32 = 0
                for index in start..<start + count {
                    let value = values[Int(digits[index])]
                    all |= value
                    group = group << 6 | UInt32(value)
                }
                return group
            }
            func write(_ group: UInt32, _ count: Int) {
                for position in 0..<count {
                    room[output] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * position))
                    output += 1
                }
            }
            for start in stride(from: 0, to: whole, by: 4) { write(group(start, 4), 3) }
            if rest > 0 {
                let last = group(whole, rest) << UInt32(24 - 6 * rest)
                write(last, rest - 1)
                surplus = last & (rest == 2 ? 0xFFFF : 0xFF)
            }
        }
        return all < 64 && surplus == 0 ? bytes : nil
    }
}
