import Testing

/// Texts that people read name who is meant: the user, the owner, an administrator, the client.
extension Rules {
    private static let vague = Pattern(
        #"\b(?:[Ww]h(?:o|om|at)ever|[Ss]omebody|[Ww]er auch immer|[Ii]rgendjemand(?:em|en|es)?)\b"#)

    /// Only what stands in quotes: comments speak to those who read the code.
    static func readersWords(_ file: SwiftFile) -> [Finding] {
        file.literals.compactMap { literal in
            guard let word = vague.matches(in: literal.text).first?[0] else { return nil }
            return Finding(
                path: file.path, line: literal.line, what: "'\(word)' in a text that users read",
                remedy: "Name who is meant: the user, the owner, an administrator, the client")
        }
    }
}

@Suite struct `Texts that users read` {
    @Test func `texts that users read name who is meant`() {
        // Pages, problems, the OpenAPI document, mails, help of commands and settings.
        let files = Repository.swift(
            in: "Sources/API", "Sources/Mail/Templates", "Sources/Identity", "Sources/urd",
            "Sources/UrdClient")
        #expect(files.count > 200)
        for finding in files.flatMap(Rules.readersWords) {
            Issue.record(Comment(rawValue: finding.description))
        }
    }

    @Test(arguments: [
        "Whoever asks", "for somebody", "whatever it is", "Mit irgendjemandem", "Wer auch immer",
    ])
    func `a vague word in a text that users read is found`(text: String) {
        #expect(found(#"let said = "\#(text) here""#) == 1)
    }

    @Test func `a vague word in a comment, or within another word, is not found`() {
        #expect(found("/// For whoever reads.\nlet said = \"for the user\"") == 0)
        #expect(found("let said = \"what he ever said\"") == 0)
    }

    private func found(_ text: String) -> Int {
        Rules.readersWords(SwiftFile(path: "Sources/API/Some.swift", text: text)).count
    }
}
