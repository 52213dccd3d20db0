/// What a text may look like: printed as the regular expression of a schema and matched by the
/// same value, so that what is documented is what is checked.
///
/// Matching keeps the set of places that it may have reached and never goes back, so no text can
/// make it slow: the work is bounded by the text's length times the pattern's.
public indirect enum Pattern: Sendable {
    /// One of these characters, which are ASCII.
    case one(Characters)
    case text(String)
    case sequence([Pattern])
    case either([Pattern])
    case times(Pattern, ClosedRange<Int>)

    static func some(_ characters: Characters, _ count: ClosedRange<Int>) -> Pattern {
        .times(.one(characters), count)
    }

    static func optional(_ pattern: Pattern) -> Pattern { .times(pattern, 0...1) }

    public func matches(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return ends(from: [0], in: bytes).contains(bytes.count)
    }

    /// The regular expression of the whole text, in the dialect of JSON Schema (ECMA-262).
    public var expression: String { "^\(part)$" }

    private func ends(from starts: Set<Int>, in bytes: [UInt8]) -> Set<Int> {
        switch self {
        case .one(let characters):
            var ends: Set<Int> = []
            for start in starts where start < bytes.count && characters.contains(bytes[start]) {
                ends.insert(start + 1)
            }
            return ends
        case .text(let text):
            let wanted = Array(text.utf8)
            var ends: Set<Int> = []
            for start in starts where bytes[start...].starts(with: wanted) {
                ends.insert(start + wanted.count)
            }
            return ends
        case .sequence(let parts):
            return parts.reduce(starts) { $1.ends(from: $0, in: bytes) }
        case .either(let parts):
            return parts.reduce(into: []) { $0.formUnion($1.ends(from: starts, in: bytes)) }
        case .times(let part, let count):
            return repeated(part, count, from: starts, in: bytes)
        }
    }

    private func repeated(
        _ part: Pattern, _ count: ClosedRange<Int>, from starts: Set<Int>, in bytes: [UInt8]
    ) -> Set<Int> {
        var reached = starts
        var ends: Set<Int> = count.lowerBound == 0 ? starts : []
        for turn in stride(from: 1, through: count.upperBound, by: 1) {
            reached = part.ends(from: reached, in: bytes)
            if reached.isEmpty { break }
            if turn >= count.lowerBound { ends.formUnion(reached) }
        }
        return ends
    }

    private var part: String {
        switch self {
        case .one(let characters): characters.expression
        case .text(let text): text.unicodeScalars.map(escaped).joined()
        case .sequence(let parts): parts.map(\.part).joined()
        case .either(let parts): "(?:\(parts.map(\.part).joined(separator: "|")))"
        case .times(let part, let count): part.atom + quantifier(count)
        }
    }

    /// Something that a quantifier may stand behind.
    private var atom: String {
        switch self {
        case .one, .either: part
        case .text, .sequence, .times: "(?:\(part))"
        }
    }
}

/// A set of ASCII characters.
public struct Characters: Sendable {
    let ranges: [ClosedRange<UInt8>]

    init(_ ranges: ClosedRange<UInt8>...) {
        self.ranges = ranges
    }

    /// Such as `"a-z0-9_"`; a hyphen that means itself stands first.
    init(_ list: StaticString) {
        let scalars = Array(list.description.utf8)
        var ranges: [ClosedRange<UInt8>] = []
        var index = 0
        while index < scalars.count {
            if index + 2 < scalars.count, scalars[index + 1] == UInt8(ascii: "-") {
                precondition(scalars[index] < scalars[index + 2], "A range of characters ascends.")
                ranges.append(scalars[index]...scalars[index + 2])
                index += 3
            } else {
                ranges.append(scalars[index]...scalars[index])
                index += 1
            }
        }
        self.ranges = ranges
    }

    func contains(_ byte: UInt8) -> Bool { ranges.contains { $0.contains(byte) } }

    var expression: String {
        let listed = ranges.map { range in
            let first = escaped(Unicode.Scalar(range.lowerBound))
            if range.count == 1 { return first }
            return "\(first)-\(escaped(Unicode.Scalar(range.upperBound)))"
        }
        return "[\(listed.joined())]"
    }
}

private func quantifier(_ count: ClosedRange<Int>) -> String {
    if count == 0...1 { return "?" }
    if count.count == 1 { return "{\(count.lowerBound)}" }
    return "{\(count.lowerBound),\(count.upperBound)}"
}

/// What is neither letter nor digit is written so that it means itself everywhere.
private func escaped(_ scalar: Unicode.Scalar) -> String {
    let isPlain = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    if isPlain || scalar == " " || scalar == "_" || scalar == ":" || scalar == "@" {
        return String(scalar)
    }
    if "^$\\.*+?()[]{}|/-".unicodeScalars.contains(scalar) { return "\\\(scalar)" }
    let digits = String(scalar.value, radix: 16)
    return "\\x" + String(repeating: "0", count: max(0, 2 - digits.count)) + digits
}
