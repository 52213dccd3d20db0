/// Base 32 (RFC 4648 section 6) without padding, as authenticator apps take a secret. Written in
/// upper case and read in either, because people type it.
public enum Base32 {
    public static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count * 8 + 4) / 5)
        var group: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            group = (group << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 5 {
                bits -= 5
                digits.append(digit(UInt8(truncatingIfNeeded: group >> bits) & 31))
            }
        }
        if bits > 0 { digits.append(digit(UInt8(truncatingIfNeeded: group << (5 - bits)) & 31)) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Nil for padding, whitespace, a foreign character, a length that no bytes have, or trailing
    /// bits that are not zero.
    public static func decode(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count * 5 / 8)
        var group: UInt32 = 0
        var bits: UInt32 = 0
        for digit in text.utf8 {
            guard let value = value(of: digit) else { return nil }
            group = (group << 5 | UInt32(value)) & 0xFFFF
            bits += 5
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        guard bits < 5, group & (1 << bits - 1) == 0 else { return nil }
        return result
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 26 ? 0x41 + value : 0x32 + value - 26
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x41...0x5A: digit - 0x41
        case 0x61...0x7A: digit - 0x61
        case 0x32...0x37: digit - 0x32 + 26
        default: nil
        }
    }
}
