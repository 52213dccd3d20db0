import Testing

/// Texts of the program that people read: help, doctor, refusals, settings.
@Suite struct `Texts of the command line` {
    /// Words that stand for an account, a client or a request without naming it.
    private static let riddles = Pattern(#"(?i)\b(?:whoever|whatever|somebody)\b"#)

    private static func findings(_ file: SwiftFile) -> [Finding] {
        file.literals.filter { riddles.isFound(in: $0.text) }.map {
            Finding(
                path: file.path, line: $0.line, what: "a text does not name its subject",
                remedy: "Write the account, the client, the person or the request that is meant")
        }
    }

    @Test func `the command line's texts name the account, the client or the request`() {
        for finding in Repository.swift(in: "Sources/urd").flatMap(Self.findings) {
            Issue.record(Comment(rawValue: finding.description))
        }
    }

    @Test(arguments: [
        ("let a = \"Whoever has the key\"", 1), ("let a = \"the client\"", 0),
        ("// whoever reads this", 0), ("let whatever = \"\"", 0), ("f(\"and somebody else\")", 1),
    ])
    func `the command line's vague words are found in texts, not in code and comments`(
        line: String, count: Int
    ) {
        let file = SwiftFile(path: "Sources/urd/Sample.swift", text: line + "\n")
        #expect(Self.findings(file).count == count)
    }
}
