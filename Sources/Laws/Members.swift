import Values

/// The members of one JSON object, found in its bytes without a value of any being made. It is used again for the
/// next event, because there are very many of them.
final class Members {
    private struct Member {
        let name: Range<Int>
        let value: Range<Int>
    }

    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var members: [Member] = []

    init() {}

    /// Finds the members of an object; of bytes that are none, those before the fault. The bytes must
    /// outlive all questions.
    func read(_ object: UnsafeRawBufferPointer) {
        bytes = object
        members.removeAll(keepingCapacity: true)
        var place = 1
        while place < bytes.count, bytes[place] == quote {
            let name = text(at: place)
            guard name.upperBound + 1 < bytes.count else { return }
            let value = value(at: name.upperBound + 2)
            guard value.upperBound < bytes.count else { return }
            members.append(Member(name: name, value: value))
            place = value.upperBound + 1
            if bytes[value.upperBound] == quote { place += 1 }
        }
    }

    // MARK: - Values by name

    func has(_ name: StaticString) -> Bool { find(name) != nil }

    func identifier(_ name: StaticString) -> UUID? {
        find(name).flatMap { UUID(text: slice($0)) }
    }

    func integer(_ name: StaticString) -> Int64? {
        find(name).flatMap { Int64(String(decoding: slice($0), as: UTF8.self)) }
    }

    func isTrue(_ name: StaticString) -> Bool {
        find(name).map { bytes[$0.lowerBound] == UInt8(ascii: "t") } ?? false
    }

    /// A text as it is written, with its escapes.
    func text(_ name: StaticString) -> String? {
        find(name).map { String(decoding: slice($0), as: UTF8.self) }
    }

    func texts(_ name: StaticString) -> [String] {
        elements(of: name).map { String(decoding: slice($0), as: UTF8.self) }
    }

    func identifiers(_ name: StaticString) -> [UUID] {
        elements(of: name).compactMap { UUID(text: slice($0)) }
    }

    func integers(_ name: StaticString) -> [Int64] {
        elements(of: name).compactMap { Int64(String(decoding: slice($0), as: UTF8.self)) }
    }

    func object(_ name: StaticString) -> Members? {
        find(name).map {
            let inner = Members()
            inner.read(slice($0))
            return inner
        }
    }

    private func find(_ name: StaticString) -> Range<Int>? {
        for member in members where slice(member.name).isText(name) { return member.value }
        return nil
    }

    private func elements(of name: StaticString) -> [Range<Int>] {
        guard let list = find(name) else { return [] }
        var found: [Range<Int>] = []
        var place = list.lowerBound + 1
        while place < list.upperBound - 1 {
            let element = value(at: place)
            found.append(element)
            place = element.upperBound + (bytes[element.upperBound] == quote ? 2 : 1)
        }
        return found
    }

    private func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    // MARK: - Where a value ends

    /// A value without its quotes; one that has no end goes to the end of the bytes.
    private func value(at start: Int) -> Range<Int> {
        guard start < bytes.count else { return bytes.count..<bytes.count }
        switch bytes[start] {
        case quote: return text(at: start)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nested(at: start)
        default:
            var end = start
            while end < bytes.count, !isClosing(bytes[end]), bytes[end] != UInt8(ascii: ",") {
                end += 1
            }
            return start..<end
        }
    }

    /// The inside of a text whose first quote is here.
    private func text(at start: Int) -> Range<Int> {
        var end = start + 1
        while end < bytes.count, bytes[end] != quote {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return (start + 1)..<max(start + 1, min(end, bytes.count))
    }

    private func nested(at start: Int) -> Range<Int> {
        var end = start
        var depth = 0
        while end < bytes.count {
            let byte = bytes[end]
            if byte == quote {
                end = text(at: end).upperBound
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if isClosing(byte) {
                depth -= 1
            }
            end += 1
            if depth == 0 { return start..<min(end, bytes.count) }
        }
        return start..<bytes.count
    }

    private func isClosing(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }
}

private let quote = UInt8(ascii: "\"")

extension UnsafeRawBufferPointer {
    func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}

extension UUID {
    /// Of the 36 characters that stand in a record.
    init?(text: UnsafeRawBufferPointer) {
        guard text.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<36 where index != 8 && index != 13 && index != 18 && index != 23 {
            guard let digit = hexDigit(text[index]) else { return nil }
            if index < 18 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
        }
        self.init(high: halves.0, low: halves.1)
    }
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
