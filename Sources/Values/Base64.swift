/// Base 64 with padding (RFC 4648 section 4), read strictly: one text for one value.
public enum Base64 {
    public static func encode(_ bytes: [UInt8]) -> String {
        Base64Alphabet.standard.encode(bytes, isPadded: true)
    }

    /// Nil for whitespace, missing or surplus padding, a foreign character, or trailing bits that
    /// are not zero.
    public static func decode(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return Base64Alphabet.standard.decode(digits)
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
        Base64Alphabet.url.decode(text.utf8)
    }
}

struct Base64Alphabet {
    /// The two digits in which the alphabets differ.
    let sixtyTwo: UInt8
    let sixtyThree: UInt8
    private let digits: [UInt8]

    private init(sixtyTwo: UInt8, sixtyThree: UInt8) {
        self.sixtyTwo = sixtyTwo
        self.sixtyThree = sixtyThree
        digits =
            Array(0x41...0x5A) + Array(0x61...0x7A) + Array(0x30...0x39) + [sixtyTwo, sixtyThree]
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
    func decode(_ digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count % 4 != 1 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(digits.count / 4 * 3 + 2)
        var group: UInt32 = 0
        var bits: UInt32 = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            group = (group << 6 | UInt32(value)) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        guard group & (1 << bits - 1) == 0 else { return nil }
        return result
    }

    private func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x41...0x5A: digit - 0x41
        case 0x61...0x7A: digit - 0x61 + 26
        case 0x30...0x39: digit - 0x30 + 52
        case sixtyTwo: 62
        case sixtyThree: 63
        default: nil
        }
    }
}
