/// Comments of declarations and descriptions of API members say what they are about: a sentence without a
/// noun ("Whose it was.", "Until when.") is found by no search and tells a reader nothing.
enum NounRules {
    /// Whether a text has a word beside those of `PlainWords`. Code in backticks names something.
    static func hasNoun(_ text: some StringProtocol) -> Bool {
        var word: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): word.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(byte | 0x20)
            // A word of two parts, such as `back-off`, is one word.
            case UInt8(ascii: "'"), UInt8(ascii: "-"): if !word.isEmpty { word.append(byte) }
            case UInt8(ascii: "`"): return true
            case 0x80...: return true
            default:
                if isNoun(word) { return true }
                word = []
            }
        }
        return isNoun(word)
    }

    private static func isNoun(_ word: [UInt8]) -> Bool {
        !word.isEmpty && !PlainWords.all.contains(String(decoding: word, as: UTF8.self))
    }

    // MARK: - Comments of declarations

    private static let comment = "The comment has no noun"
    private static let remedy = "Name what it is about, by the term that a reader searches for"

    /// Lines of `///` whose sentences all have no noun. A sentence may go over several lines.
    static func comments(_ file: SwiftFile) -> [Finding] {
        var found: [Finding] = []
        var block: [Substring] = []
        var first = 0
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if let text = documentation(line) {
                if block.isEmpty { first = index }
                block.append(text)
            } else if !block.isEmpty {
                found += findings(in: block, from: first + 1, of: file)
                block = []
            }
        }
        return found
    }

    private static func documentation(_ line: Substring) -> Substring? {
        let code = line.utf8.drop { $0 == UInt8(ascii: " ") }
        return code.starts(with: "///".utf8) ? Substring(code.dropFirst(3)) : nil
    }

    private static func findings(
        in block: [Substring], from first: Int, of file: SwiftFile
    ) -> [Finding] {
        var isNamed = Array(repeating: false, count: block.count)
        for sentence in sentences(of: block) where hasNoun(sentence.text) {
            for line in sentence.lines { isNamed[line] = true }
        }
        return block.indices.compactMap { index in
            guard !isNamed[index], block[index].contains(where: \.isLetter) else { return nil }
            return Finding(
                path: file.path, line: first + index, what: "\(comment): \(block[index])",
                remedy: remedy)
        }
    }

    /// Each sentence, with the lines of the block that it stands on. A list's item begins a new one.
    static func sentences(of block: [Substring]) -> [(text: String, lines: ClosedRange<Int>)] {
        var found: [(text: String, lines: ClosedRange<Int>)] = []
        var text = ""
        var first = 0
        func end(at line: Int) {
            if text.contains(where: \.isLetter) { found.append((text, first...max(first, line))) }
            text = ""
        }
        for (index, line) in block.enumerated() {
            let words = line.split(separator: " ")
            if words.isEmpty || words.first == "-" { end(at: index - 1) }
            for word in words {
                if text.isEmpty { first = index }
                text += " " + word
                if let last = word.utf8.last, ".!?".utf8.contains(last) { end(at: index) }
            }
        }
        end(at: block.count - 1)
        return found
    }
}
