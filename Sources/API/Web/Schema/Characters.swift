/// A set of characters, as a schema's regular expression names it.
public struct Characters: Sendable {
    let ranges: [ClosedRange<UInt32>]
    let isNegated: Bool

    init(_ ranges: ClosedRange<UInt32>...) {
        self.ranges = ranges
        self.isNegated = false
    }

    init(except ranges: [ClosedRange<UInt32>]) {
        self.ranges = ranges
        self.isNegated = true
    }

    init(oneOf ranges: [ClosedRange<UInt32>]) {
        self.ranges = ranges
        self.isNegated = false
    }

    /// Such as `"-a-z0-9_"`: a hyphen that means itself stands first.
    init(_ list: StaticString) {
        let scalars = list.description.unicodeScalars.map(\.value)
        var ranges: [ClosedRange<UInt32>] = []
        var index = 0
        while index < scalars.count {
            if index + 2 < scalars.count, scalars[index + 1] == 0x2D {
                precondition(scalars[index] < scalars[index + 2], "A range of characters ascends.")
                ranges.append(scalars[index]...scalars[index + 2])
                index += 3
            } else {
                ranges.append(scalars[index]...scalars[index])
                index += 1
            }
        }
        self.ranges = ranges
        self.isNegated = false
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar.value) } != isNegated
    }

    var expression: String {
        let listed = ranges.map { range in
            let first = escaped(range.lowerBound)
            if range.count == 1 { return first }
            return "\(first)-\(escaped(range.upperBound))"
        }
        return "[\(isNegated ? "^" : "")\(listed.joined())]"
    }
}

/// A character that means itself, within a set or outside of one, in every regular expression syntax.
func escaped(_ scalar: UInt32) -> String {
    switch scalar {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x20, 0x3A, 0x40, 0x5F:
        String(Character(Unicode.Scalar(UInt8(truncatingIfNeeded: scalar))))
    case 0...0xFF: "\\x" + hex(scalar, digits: 2)
    default: "\\u" + hex(scalar, digits: 4)
    }
}

private func hex(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
