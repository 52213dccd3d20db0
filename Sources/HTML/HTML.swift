/// Markup that can be shown: all text in it was escaped on the way.
///
/// There is no way from a string to markup but through `text`, an attribute or a literal of this
/// program, so that a name that a user chose stays a name.
public struct HTML: Sendable, Equatable {
    /// The markup in UTF-8.
    public let bytes: [UInt8]

    init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    public static let nothing = HTML(unchecked: [])

    public var markup: String { String(decoding: bytes, as: UTF8.self) }

    /// Characters for people to read.
    public static func text(_ text: String) -> HTML {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        output.append(escaping: text, isAttribute: false)
        return HTML(unchecked: output)
    }

    public init(@HTMLBuilder _ content: () -> HTML) {
        self = content()
    }
}

/// Puts elements and texts one after the other. A string is a text.
@resultBuilder public enum HTMLBuilder {
    public static func buildExpression(_ text: String) -> HTML { .text(text) }
    public static func buildExpression(_ html: HTML) -> HTML { html }
    public static func buildExpression(_ html: HTML?) -> HTML { html ?? .nothing }
    public static func buildBlock(_ parts: HTML...) -> HTML { joined(parts) }
    public static func buildOptional(_ part: HTML?) -> HTML { part ?? .nothing }
    public static func buildEither(first: HTML) -> HTML { first }
    public static func buildEither(second: HTML) -> HTML { second }
    public static func buildArray(_ parts: [HTML]) -> HTML { joined(parts) }

    private static func joined(_ parts: [HTML]) -> HTML {
        if parts.count == 1 { return parts[0] }
        var output: [UInt8] = []
        output.reserveCapacity(parts.reduce(0) { $0 + $1.bytes.count })
        for part in parts { output.append(contentsOf: part.bytes) }
        return HTML(unchecked: output)
    }
}

extension [UInt8] {
    mutating func append(literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }

    /// Without what begins markup or ends an attribute. Characters that HTML has no place for, and
    /// those that turn the direction of what follows, become the replacement character.
    mutating func append(escaping text: String, isAttribute: Bool) {
        if isPlain(text) { return append(text: text) }
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            for byte in text.utf8 { append(escaping: byte, isAttribute: isAttribute) }
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n", "\t", "\r": append(UInt8(truncatingIfNeeded: scalar.value))
            case _ where isForbidden(scalar): append(literal: "\u{FFFD}")
            case _ where scalar.isASCII:
                append(escaping: UInt8(truncatingIfNeeded: scalar.value), isAttribute: isAttribute)
            default: append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }

    private mutating func append(escaping byte: UInt8, isAttribute: Bool) {
        switch byte {
        case UInt8(ascii: "&"): append(literal: "&amp;")
        case UInt8(ascii: "<"): append(literal: "&lt;")
        case UInt8(ascii: ">"): append(literal: "&gt;")
        case UInt8(ascii: "\""): append(literal: "&quot;")
        case UInt8(ascii: "'"): append(literal: "&#39;")
        case UInt8(ascii: "`") where isAttribute: append(literal: "&#96;")
        default: append(byte)
        }
    }
}

/// Most texts are ASCII without anything special, and stay what they are.
private func isPlain(_ text: String) -> Bool {
    let bytes = text.utf8Span.span
    for index in bytes.indices where !isPlain(bytes[index]) { return false }
    return true
}

private func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
        UInt8(ascii: "'"), UInt8(ascii: "`"):
        false
    default: (0x20...0x7E).contains(byte)
    }
}

private func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F: true
    // Embeddings, overrides and isolates: they could turn a sentence of ours around.
    case 0x202A...0x202E, 0x2066...0x2069: true
    case 0xFDD0...0xFDEF: true
    default: scalar.value & 0xFFFE == 0xFFFE
    }
}
