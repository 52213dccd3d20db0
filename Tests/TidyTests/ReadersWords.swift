import Testing

/// Texts that people read, and comments, name who is meant: the user, the owner, an administrator, the client.
extension Rules {
    private static let vague = Pattern(
        #"\b(?:[Ww]h(?:o|om|at)ever|[Ss]omebody|[Nn]obody|[Aa]nybody|[Ww]er auch immer"#
            + #"|[Ii]rgendjemand(?:em|en|es)?)\b"#)

    static func readersWords(_ file: SwiftFile) -> [Finding] {
        file.literals.compactMap { vagueWord(in: $0.text, line: $0.line, of: file) }
    }

    static func wordsOfComments(_ file: SwiftFile) -> [Finding] {
        file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .compactMap { index, line in
                let code = line.utf8.drop { $0 == UInt8(ascii: " ") }
                guard code.starts(with: "//".utf8) else { return nil }
                return vagueWord(in: String(line), line: index + 1, of: file)
            }
    }

    private static func vagueWord(in text: String, line: Int, of file: SwiftFile) -> Finding? {
        guard let word = vague.matches(in: text).first?[0] else { return nil }
        return Finding(
            path: file.path, line: line, what: "'\(word)' in a text or a comment",
            remedy: "Name who is meant: the user, the owner, an administrator, the client")
    }
}

@Suite struct `Texts that users read` {
    @Test func `texts that users read name who is meant`() {
        // Pages, problems, the OpenAPI document, mails, help of commands and settings.
        let files = Repository.swift(
            in: "Sources/API", "Sources/Mail/Templates", "Sources/Identity", "Sources/urd",
            "Sources/UrdClient")
        #expect(files.count > 200)
        for finding in files.flatMap(Rules.readersWords) where finding.path != Self.system {
            Issue.record(Comment(rawValue: finding.description))
        }
    }

    @Test func `comments name who is meant`() {
        for finding in Repository.swift(in: "Sources").flatMap(Rules.wordsOfComments)
        where finding.path != Self.system {
            Issue.record(Comment(rawValue: finding.description))
        }
    }

    /// It names a user of the system.
    private static let system = "Sources/urd/System/Account.swift"

    @Test(arguments: [
        "Whoever asks", "for somebody", "whatever it is", "is nobody's", "Anybody may",
        "Mit irgendjemandem", "Wer auch immer",
    ])
    func `a vague word in a text that users read is found`(text: String) {
        #expect(found(#"let said = "\#(text) here""#) == 1)
        let comment = SwiftFile(path: "Sources/API/Some.swift", text: "    /// \(text) here.\n")
        #expect(Rules.wordsOfComments(comment).count == 1)
    }

    @Test func `a name in code, or a vague word within another word, is not found`() {
        #expect(found("case nobody\nlet said = \"for the user\"") == 0)
        #expect(found("let said = \"what he ever said\"") == 0)
    }

    private func found(_ text: String) -> Int {
        Rules.readersWords(SwiftFile(path: "Sources/API/Some.swift", text: text)).count
    }
}
