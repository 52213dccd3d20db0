/// Base 16 (RFC 4648 section 8): written in lower case, read in either.
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digit(byte >> 4)
                buffer[2 * index + 1] = digit(byte)
            }
            return bytes.count * 2
        }
    }

    /// Nil when a character is no digit or one is missing.
    public static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count / 2)
        var upper: UInt8?
        for byte in text.utf8 {
            guard let value = value(of: byte) else { return nil }
            if let first = upper {
                result.append(first << 4 | value)
                upper = nil
            } else {
                upper = value
            }
        }
        return result
    }

    static func digit(_ value: UInt8) -> UInt8 {
        let low = value & 0xF
        return low < 10 ? 0x30 + low : 0x57 + low
    }

    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}
