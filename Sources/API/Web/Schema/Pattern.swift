/// What a text may look like: printed as the regular expression of a schema and matched by the
/// same value, so that what is documented is what is checked.
///
/// Matching keeps the set of places that it may have reached and never goes back, so no text can
/// make it slow: the work is bounded by the text's length times the pattern's.
public indirect enum Pattern: Sendable {
    /// One of these characters.
    case one(Characters)
    case text(String)
    case sequence([Pattern])
    case either([Pattern])
    case times(Pattern, ClosedRange<Int>)
    /// What people are told that it is, with an example, where the text is something else.
    case said(String, Pattern)

    static func some(_ characters: Characters, _ count: ClosedRange<Int>) -> Pattern {
        .times(.one(characters), count)
    }

    static func optional(_ pattern: Pattern) -> Pattern { .times(pattern, 0...1) }

    public func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return ends(from: [0], in: scalars).contains(scalars.count)
    }

    /// The description of the pattern in words.
    var words: String {
        if case .said(let words, _) = self { words } else { "a text that matches \(expression)" }
    }

    /// The names of an enumeration.
    var names: [String] {
        guard case .either(let patterns) = self else { return [] }
        return patterns.compactMap { if case .text(let name) = $0 { name } else { nil } }
    }

    /// The regular expression of the whole text, in the dialect of JSON Schema (ECMA-262).
    public var expression: String { "^\(part)$" }

    private func ends(from starts: Set<Int>, in scalars: [Unicode.Scalar]) -> Set<Int> {
        switch self {
        case .one(let characters):
            var ends: Set<Int> = []
            for start in starts where start < scalars.count && characters.contains(scalars[start]) {
                ends.insert(start + 1)
            }
            return ends
        case .text(let text):
            let wanted = Array(text.unicodeScalars)
            var ends: Set<Int> = []
            for start in starts where scalars[start...].starts(with: wanted) {
                ends.insert(start + wanted.count)
            }
            return ends
        case .sequence(let parts):
            return parts.reduce(starts) { $1.ends(from: $0, in: scalars) }
        case .either(let parts):
            return parts.reduce(into: []) { $0.formUnion($1.ends(from: starts, in: scalars)) }
        case .times(let part, let count):
            return repeated(part, count, from: starts, in: scalars)
        case .said(_, let pattern): return pattern.ends(from: starts, in: scalars)
        }
    }

    private func repeated(
        _ part: Pattern, _ count: ClosedRange<Int>, from starts: Set<Int>,
        in scalars: [Unicode.Scalar]
    ) -> Set<Int> {
        var reached = starts
        var ends: Set<Int> = count.lowerBound == 0 ? starts : []
        for turn in stride(from: 1, through: count.upperBound, by: 1) {
            reached = part.ends(from: reached, in: scalars)
            if reached.isEmpty { break }
            if turn >= count.lowerBound { ends.formUnion(reached) }
        }
        return ends
    }

    private var part: String {
        switch self {
        case .one(let characters): characters.expression
        case .text(let text): text.unicodeScalars.map { escaped($0.value) }.joined()
        case .sequence(let parts): parts.map(\.part).joined()
        case .either(let parts): "(?:\(parts.map(\.part).joined(separator: "|")))"
        case .times(let part, let count): part.atom + quantifier(count)
        case .said(_, let pattern): pattern.part
        }
    }

    /// Something that a quantifier may stand behind.
    private var atom: String {
        switch self {
        case .one, .either: part
        case .said(_, let pattern): pattern.atom
        case .text, .sequence, .times: "(?:\(part))"
        }
    }
}

private func quantifier(_ count: ClosedRange<Int>) -> String {
    if count == 0...1 { return "?" }
    if count.count == 1 { return "{\(count.lowerBound)}" }
    return "{\(count.lowerBound),\(count.upperBound)}"
}
