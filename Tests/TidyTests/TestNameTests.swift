import Testing

/// A test's name is a sentence that can be read alone.
private enum TestNames {
    private static let riddles = Pattern(
        #"(?i)\b(?:who(?:m)?ever|somebody)\b|\bnothing else\b"#)
    private static let headless = Pattern(
        #"^(?:is|are|was|has|have|it|and|but|that|can|may|says?|takes?|gives?|needs?|ends?) "#)

    static func isRiddle(_ name: String) -> Bool {
        riddles.isFound(in: name.replacing("_", with: " "))
            || headless.isFound(in: name)
    }
}

@Suite struct `Names of tests` {
    @Test func `every test's name has its subject in it`() {
        for name in Repository.testNames.sorted() where TestNames.isRiddle(name) {
            Issue.record("`\(name)` cannot be read alone. Name subject, condition and outcome")
        }
    }

    @Test(arguments: [
        ("is nothing else", true), ("whoever is not certified gets none", true),
        ("test_tells_somebody", true), ("and no day that doesn't exist", true),
        ("a rotated refresh token used again ends its session", false),
        ("test_a_code_is_redeemed_once", false),
    ])
    func `a name without a subject is found`(name: String, isRiddle: Bool) {
        #expect(TestNames.isRiddle(name) == isRiddle)
    }
}
