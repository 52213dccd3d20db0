import Testing

private func expectNone(_ findings: [Finding]) {
    for finding in findings { Issue.record(Comment(rawValue: finding.description)) }
}

@Suite struct `Descriptions and comments have nouns` {
    @Test func `every comment of a declaration has a noun`() {
        expectNone(Repository.swift(in: "Sources").flatMap(NounRules.comments))
    }

    @Test func `every description of an API member or an event's field has a noun`() {
        let files = Repository.swift(in: "Sources/API", "Sources/Identity")
        #expect(files.flatMap(MemberDescriptions.descriptions).count > 1_500)
        expectNone(files.flatMap(MemberDescriptions.findings))
    }

    @Test(arguments: [
        "Of this one.", "Whose it was.", "When.", "What it was.", "Nil until it was opened.",
        "Runs until it is cancelled.", "", "- Returns: how many are sent again.",
    ])
    func `a text of plain words has no noun`(text: String) {
        #expect(!NounRules.hasNoun(text))
    }

    @Test(arguments: [
        "Expiry time.", "Nil without a session.", "With `openid`.", "The lease of a node.",
        "Waits with a back-off.",
    ])
    func `a text that names a thing has a noun`(text: String) {
        #expect(NounRules.hasNoun(text))
    }

    @Test func `a sentence over two lines is judged as a whole`() {
        let text = """
            /// Ends the session, and all that came
            /// of it.
            func end() {}
            /// Whose it was. The account's
            /// own.
            /// - Returns: whether it was.
            var owner: Int
            // What it was.
            """
        let file = SwiftFile(path: "Sources/API/Sample.swift", text: text)
        #expect(NounRules.comments(file).map(\.line) == [6])
    }

    @Test(arguments: [
        (#".required("at", Fields.time, "When it was.")"#, 1),
        (#".optional("kid", .text(1...100), "Key id " + "of it.")"#, 0),
        (#"Parameter("to", in: .query, .text(1...9), "Until when.", example: "a")"#, 1),
        (#".uuid("session", "Whose it is.")"#, 1),
        (#"("claims_supported", "What there are.")"#, 1),
        (#"HTML.text("Done", "Was.", name) + other("It was.")"#, 1),
        (#"log("it.failed", ["why": "When."])"#, 0),
    ])
    func `a description is found beside the name of its member`(code: String, count: Int) {
        let file = SwiftFile(path: "Sources/API/Sample.swift", text: "let a = [\(code)]\n")
        #expect(MemberDescriptions.findings(file).count == count)
    }
}
