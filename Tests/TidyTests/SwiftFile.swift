/// A Swift file, with its comments and strings told from its code.
struct SwiftFile {
    struct Literal: Equatable {
        let line: Int
        /// Where its quote stands in the text, in bytes.
        let start: Int
        let text: String
    }

    let path: String
    let text: String
    /// The lines of code: what stands in comments and strings is blanked, the lines stay.
    let code: [String]
    let literals: [Literal]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        var scanner = SwiftScanner(Array(text.utf8))
        scanner.run()
        code = String(decoding: scanner.code, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        literals = scanner.literals
    }

    var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

    /// "Sources/API/Web/Route.swift" is of "API".
    var module: String {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : ""
    }

    /// "RegisterClient" of "…/RegisterClient.swift".
    var name: String {
        String((path.split(separator: "/").last ?? "").dropLast(".swift".count))
    }
}

/// Tells code, comments and strings apart; it knows no more of Swift than that.
struct SwiftScanner {
    private let source: [UInt8]
    private var place = 0
    private var line = 1
    private(set) var code: [UInt8] = []
    private(set) var literals: [SwiftFile.Literal] = []

    init(_ source: [UInt8]) {
        self.source = source
    }

    mutating func run() {
        while place < source.count { step() }
    }

    private func at(_ word: StaticString) -> Bool { word.withUTF8Buffer { at($0) } }

    /// Asked for nearly every byte: the first one tells most of the time.
    private func at(_ word: some Collection<UInt8>) -> Bool {
        guard place < source.count, source[place] == word.first else { return false }
        return source[place...].starts(with: word)
    }

    /// One byte further: kept where it is code, blanked where not.
    private mutating func take(asCode: Bool) {
        let byte = source[place]
        if byte == 10 { line += 1 }
        code.append(asCode || byte == 10 ? byte : 32)
        place += 1
    }

    private mutating func step() {
        if at("//") {
            while place < source.count, source[place] != 10 { take(asCode: false) }
        } else if at("/*") {
            comment()
        } else if source[place] == UInt8(ascii: "\"") {
            string(pounds: 0)
        } else if source[place] == UInt8(ascii: "#"), let pounds = poundsOfString() {
            for _ in 0..<pounds { take(asCode: true) }
            string(pounds: pounds)
        } else {
            take(asCode: true)
        }
    }

    private mutating func comment() {
        var depth = 0
        repeat {
            if at("/*") {
                depth += 1
                take(asCode: false)
            } else if at("*/") {
                depth -= 1
                take(asCode: false)
            }
            if place < source.count { take(asCode: false) }
        } while depth > 0 && place < source.count
    }

    /// How many `#` stand before the quote of a raw string; nil where no string follows.
    private func poundsOfString() -> Int? {
        var end = place
        while end < source.count, source[end] == UInt8(ascii: "#") { end += 1 }
        return end < source.count && source[end] == UInt8(ascii: "\"") ? end - place : nil
    }

    private mutating func string(pounds: Int) {
        let (start, opening) = (line, place)
        let quote: [UInt8] = at("\"\"\"") ? [34, 34, 34] : [34]
        let tail = [UInt8](repeating: UInt8(ascii: "#"), count: pounds)
        let end = quote + tail
        let escape = [UInt8(ascii: "\\")] + tail
        for _ in quote { take(asCode: true) }
        var text: [UInt8] = []
        while place < source.count, !at(end) {
            // A string of one line that does not end there is no string of ours.
            if quote.count == 1, source[place] == 10 { break }
            if at(escape + [UInt8(ascii: "(")]) {
                for _ in escape { take(asCode: false) }
                interpolation(into: &text)
            } else if at(escape) {
                for _ in escape where place < source.count {
                    text.append(source[place])
                    take(asCode: false)
                }
                if place < source.count {
                    text.append(source[place])
                    take(asCode: false)
                }
            } else {
                text.append(source[place])
                take(asCode: false)
            }
        }
        if at(end) { for _ in end { take(asCode: true) } }
        literals.append(
            SwiftFile.Literal(
                line: start, start: opening, text: String(decoding: text, as: UTF8.self)))
    }

    /// What stands in `\(…)` is code again.
    private mutating func interpolation(into text: inout [UInt8]) {
        var depth = 0
        let start = place
        repeat {
            if source[place] == UInt8(ascii: "(") { depth += 1 }
            if source[place] == UInt8(ascii: ")") { depth -= 1 }
            step()
        } while depth > 0 && place < source.count
        text += source[start..<min(place, source.count)]
    }
}
