/// CBOR as tests write it: also what no authenticator should.
indirect enum Item: Sendable {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([Item])
    case map([(Item, Item)])
    case raw([UInt8])

    var encoded: [UInt8] {
        switch self {
        case .integer(let value):
            value < 0 ? Item.head(1, UInt64(-1 - value)) : Item.head(0, UInt64(value))
        case .bytes(let bytes): Item.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Item.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let items):
            Item.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let members):
            Item.head(5, UInt64(members.count))
                + members.flatMap { $0.0.encoded + $0.1.encoded }
        case .raw(let bytes): bytes
        }
    }

    static func head(_ major: UInt8, _ value: UInt64) -> [UInt8] {
        let (information, count): (UInt8, Int) =
            switch value {
            case 0..<24: (UInt8(value), 0)
            case 24..<0x100: (24, 1)
            case 0x100..<0x1_0000: (25, 2)
            case 0x1_0000..<0x1_0000_0000: (26, 4)
            default: (27, 8)
            }
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        return [major << 5 | information] + bytes.reversed()
    }
}

/// ASN.1 as tests write it.
enum ASN1 {
    static func element(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        wrap([tag], content.flatMap { $0 })
    }

    static func sequence(_ content: [UInt8]...) -> [UInt8] { wrap([0x30], content.flatMap { $0 }) }

    /// `[number] EXPLICIT`.
    static func context(_ number: UInt32, _ content: [UInt8]) -> [UInt8] {
        guard number >= 31 else { return wrap([0xA0 | UInt8(number)], content) }
        let digits: [UInt8] = [UInt8(number >> 7 & 0x7F) | 0x80, UInt8(number & 0x7F)]
        return wrap([0xBF] + digits, content)
    }

    static func integer(_ value: UInt8) -> [UInt8] { element(0x02, [value]) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }

    /// A number that is not negative, from its bytes.
    static func number(_ bytes: [UInt8]) -> [UInt8] {
        let short = Array(bytes.drop { $0 == 0 })
        return element(0x02, (short.first ?? 0x80) >= 0x80 ? [0] + short : short)
    }

    static func identifier(_ dotted: String) -> [UInt8] {
        let numbers = dotted.split(separator: ".").compactMap { UInt64($0) }
        var content: [UInt8] = []
        for number in [numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2) {
            var digits = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                digits.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            content += digits.reversed()
        }
        return element(0x06, content)
    }

    private static func wrap(_ tag: [UInt8], _ content: [UInt8]) -> [UInt8] {
        let length = content.count
        if length < 0x80 { return tag + [UInt8(length)] + content }
        if length < 0x100 { return tag + [0x81, UInt8(length)] + content }
        return tag + [0x82, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }
}
