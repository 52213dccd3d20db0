import Testing

/// Files, and with them types, are named by nouns.
private enum FileNames {
    /// Nouns that end like participles.
    private static let nouns: Set<String> = [
        "Branding", "Encoding", "Filling", "Finding", "Forwarding", "Coalescing", "Keyring",
        "Meaning",
        "Reading", "Sealing", "Setting", "Standing", "String",
    ]
    private static let lastWord = Pattern("([A-Z][a-z]+(?:ing|ed))$")

    /// `Asking` and `LetterSending` are, `KeyEncoding` and `SignedNote` are not.
    static func isParticiple(_ name: String) -> Bool {
        guard let word = lastWord.matches(in: name).first?[1] else { return false }
        return !nouns.contains(word)
    }
}

@Suite struct `Names of source files` {
    /// Imperatives, and an event as the log holds it.
    private static let allowed: Set<String> = ["MarkSynchronized", "RetryUntilDecided", "Recorded"]

    @Test func `no source file is named by a participle`() {
        for file in Repository.swift(in: "Sources")
        where FileNames.isParticiple(file.name) && !Self.allowed.contains(file.name) {
            Issue.record("\(file.path):1: named by a participle. Name it by a noun")
        }
    }

    @Test(arguments: [
        ("Asking", true), ("Recorded", true), ("LetterSending", true), ("KeyEncoding", false),
        ("Setting", false), ("SignedNote", false), ("Dispatcher", false), ("Keyring", false),
    ])
    func `a participle is told from a noun`(name: String, isParticiple: Bool) {
        #expect(FileNames.isParticiple(name) == isParticiple)
    }
}
