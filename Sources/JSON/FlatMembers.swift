/// The members of an object one after the other, without a value of any being made: for those who want a few fields
/// of very many objects. It reads what `JSON.object(…).canonical()` writes, and gives up at anything else.
public struct FlatMembers: Sendable {
    public enum Kind: Sendable { case text, list, other }

    public let bytes: [UInt8]
    private var position = 1
    /// Nothing was met that only a parser can read, such as an escape.
    public private(set) var isPlain: Bool

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isPlain =
            bytes.count >= 2 && bytes[0] == UInt8(ascii: "{")
            && bytes[bytes.count - 1] == UInt8(ascii: "}")
    }

    /// The next member: where its name stands, and where its value does, of a text without its quotes.
    public mutating func next() -> (name: Range<Int>, value: Range<Int>, kind: Kind)? {
        guard isPlain, position < bytes.count - 1 else { return nil }
        guard let name = text(), position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
            return broken()
        }
        position += 1
        guard position < bytes.count else { return broken() }
        let kind: Kind
        let value: Range<Int>
        switch bytes[position] {
        case UInt8(ascii: "\""):
            guard let text = text() else { return broken() }
            (kind, value) = (.text, text)
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            kind = bytes[position] == UInt8(ascii: "[") ? .list : .other
            guard let nested = nested() else { return broken() }
            value = nested
        default:
            kind = .other
            let start = position
            while position < bytes.count - 1, bytes[position] != UInt8(ascii: ",") { position += 1 }
            value = start..<position
        }
        guard position < bytes.count,
            bytes[position] == UInt8(ascii: ",") || position == bytes.count - 1
        else { return broken() }
        position += 1
        return (name, value, kind)
    }

    private mutating func broken() -> (name: Range<Int>, value: Range<Int>, kind: Kind)? {
        isPlain = false
        return nil
    }

    /// The inside of a text that begins here; nil where it has an escape or no end.
    private mutating func text() -> Range<Int>? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        position += 1
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return start..<(position - 1)
            }
            if byte == UInt8(ascii: "\\") { return nil }
            position += 1
        }
        return nil
    }

    /// A list or an object, with its brackets.
    private mutating func nested() -> Range<Int>? {
        let start = position
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard text() != nil else { return nil }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return start..<position }
        }
        return nil
    }

    public func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    public func isNamed(_ range: Range<Int>, _ name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count
        where bytes[range.lowerBound + offset] != name.utf8Start[offset] {
            return false
        }
        return true
    }
}
