/// `application/x-www-form-urlencoded`: bodies and query strings.
public enum Form {
    public typealias Pair = (name: String, value: String)

    /// In order, with names that come twice kept twice, so that the caller can refuse them. Nil
    /// when an escape is broken, the result isn't UTF-8, a control character stands in it, or a
    /// limit is passed. A raw space is one: people type it, and no parser reads it as anything else.
    public static func parse(
        _ bytes: [UInt8], maximumPairs: Int = 256, maximumBytes: Int = 256 << 10
    ) -> [Pair]? {
        guard bytes.count <= maximumBytes, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        var pairs: [Pair] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
            let part = rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if part.isEmpty { continue }
            guard pairs.count < maximumPairs else { return nil }
            let sign = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Percent.decode(part[..<sign], plusIsSpace: true),
                let value = Percent.decode(
                    part[min(sign + 1, part.endIndex)...], plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    /// The same for a query string, without its question mark.
    public static func parse(
        _ query: String, maximumPairs: Int = 256, maximumBytes: Int = 256 << 10
    ) -> [Pair]? {
        parse(Array(query.utf8), maximumPairs: maximumPairs, maximumBytes: maximumBytes)
    }

    /// A space becomes a plus sign; letters, digits and `*-._` stay.
    public static func encode(_ pairs: [Pair]) -> String {
        var output: [UInt8] = []
        for (index, pair) in pairs.enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            append(pair.name, to: &output)
            output.append(UInt8(ascii: "="))
            append(pair.value, to: &output)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case 0x20: output.append(UInt8(ascii: "+"))
            case UInt8(ascii: "*"): output.append(byte)
            case UInt8(ascii: "~"): output.append(escaping: byte)
            default:
                if isUnreserved(byte) {
                    output.append(byte)
                } else {
                    output.append(escaping: byte)
                }
            }
        }
    }
}
