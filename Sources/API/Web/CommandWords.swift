/// How an operation is called on the command line, and how its help shows that.
struct CommandWords: Sendable {
    /// The words that call it: `["realm", "create"]`.
    let words: [String]
    /// Whole lines, at least one; words in capitals stand for ids that a list shows. A test runs them all
    /// against `urd dev`.
    let examples: [String]

    static func urd(_ words: String, examples: String...) -> CommandWords {
        CommandWords(words: words.split(separator: " ").map(String.init), examples: examples)
    }
}
