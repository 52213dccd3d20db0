import Foundation
import Testing

/// Decision notes are found by their number, and by topic in `docs/decisions/README.md`.
@Suite("The decision notes")
struct DecisionNotes {
    private struct Note {
        let path: String
        let name: String
        let number: String
        let lines: [String]

        var title: String? {
            guard let first = lines.first, first.hasPrefix("# \(number): ") else { return nil }
            let title = String(first.dropFirst(number.count + 4))
            return title.isEmpty ? nil : title
        }

        var status: String? {
            lines.count > 2 && lines[1].isEmpty ? lines[2] : nil
        }

        var words: Int {
            lines.reduce(0) { sum, line in
                sum + line.split(whereSeparator: { $0.isWhitespace }).count
            }
        }

        /// The other notes that it names.
        var references: Set<String> {
            let text = lines.joined(separator: "\n")
            let found = DecisionNotes.numeral.matches(in: text).map { $0[1] }
            return Set(found).subtracting([number])
        }
    }

    /// A number that is no note any more, and what its line in the index links to.
    private struct Folded {
        let number: String
        let targets: [String]
    }

    private static let folder = "docs/decisions"
    private static let index = Repository.text("\(folder)/README.md")

    private static let numeral = Pattern("(?<![\\w-])(0\\d{3})\\b")
    private static let path = Pattern("decisions/((\\d{4})-[a-z0-9-]+\\.md)")
    /// "decision" and a number, "decisions" and several, also where a comment goes on in between.
    private static let citation: Pattern = {
        let gap = "[\\s/#*-]+"
        return Pattern("\\b[Dd]ecisions?\(gap)(0\\d{3}(?:(?:,|,?\(gap)and)\(gap)0\\d{3})*)")
    }()

    private static let notes: [Note] = Repository.files(in: folder, suffix: ".md")
        .map { path, text in
            let name = String(path.dropFirst(folder.count + 1))
            return Note(
                path: path, name: name, number: String(name.prefix(4)),
                lines: text.components(separatedBy: "\n"))
        }
        .filter { $0.name != "README.md" }

    private static let folded: [Folded] = {
        let section = index.components(separatedBy: "\n## Folded\n").dropFirst().first ?? ""
        let start = Pattern("^- (\\d{4}) ")
        let link = Pattern("\\]\\(([^)#]+)[^)]*\\)")
        return section.components(separatedBy: "\n").compactMap { line -> Folded? in
            guard let found = start.matches(in: line).first else { return nil }
            return Folded(number: found[1], targets: link.matches(in: line).map { $0[1] })
        }
    }()

    /// Every text that may cite a decision.
    private static let texts: [(path: String, text: String)] = Repository.paths
        .filter { path in
            [".swift", ".md", ".sql", ".py"].contains { path.hasSuffix($0) }
        }
        .map { ($0, Repository.text($0)) }

    private static func cited(in text: String) -> [String] {
        citation.matches(in: text).flatMap { numeral.matches(in: $0[1]) }.map { $0[1] }
    }

    /// Limits that only shrink: a new note has room where another one is folded or shortened.
    @Test func `decision notes are few and short`() {
        let words = Self.notes.reduce(0) { $0 + $1.words }
        #expect(Self.notes.count > 90)
        #expect(Self.notes.count <= 115)
        #expect(words <= 38_000)
    }

    @Test func `every number from 0001 on is one decision note or folded`() {
        let numbers = Self.notes.map(\.number)
        let folded = Self.folded.map(\.number)
        #expect(numbers == numbers.sorted())
        #expect(folded == folded.sorted())
        let highest = (numbers + folded).max().flatMap { Int($0) } ?? 0
        #expect(highest > 160)
        for value in 1...max(1, highest) {
            let number = String(String(10_000 + value).dropFirst())
            let found = (numbers + folded).filter { $0 == number }
            #expect(
                found.count == 1,
                "\(number) has to be one note, or one line under Folded in the index")
        }
        #expect(numbers.count + folded.count == highest)
    }

    @Test func `a folded decision says where its content stands`() {
        let existing = Set(Repository.paths)
        for folded in Self.folded {
            #expect(!folded.targets.isEmpty, "\(folded.number) needs a link to a note or page")
            for target in folded.targets {
                let path =
                    target.hasPrefix("../")
                    ? "docs/\(target.dropFirst(3))" : "\(Self.folder)/\(target)"
                if !existing.contains(path) {
                    Issue.record("\(folded.number) leads to \(path), which is not there")
                }
            }
        }
    }

    @Test func `a decision note begins with its number and title`() {
        for note in Self.notes where note.title == nil {
            Issue.record("\(note.path):1: the first line is `# \(note.number): ` and the title.")
        }
    }

    @Test func `a decision note has a status line that is accepted or names its successor`() {
        let link = "\\[(\\d{4})\\]\\(([^)]+)\\)"
        let related = Pattern("^Status: (?:accepted. Supersedes|superseded by) \(link)\\.$")
        let names = Set(Self.notes.map(\.name))
        for note in Self.notes where note.status != "Status: accepted." {
            let found = related.matches(in: note.status ?? "").first
            guard let found, found[2].hasPrefix(found[1]), names.contains(found[2]) else {
                Issue.record(
                    """
                    \(note.path):3: the third line is `Status: accepted.`, which may go on with \
                    `Supersedes [NNNN](NNNN-name.md).`, or `Status: superseded by …` with the same.
                    """)
                continue
            }
        }
    }

    @Test func `the index lists every decision note once, by its title`() {
        for note in Self.notes {
            let line = "- [\(note.number)](\(note.name)) \(note.title ?? "")"
            let found = Self.index.components(separatedBy: "\n").filter { $0.hasPrefix(line) }
            #expect(found.count == 1, "\(Self.folder)/README.md has to have the line: \(line)")
        }
        let links = Pattern("\\]\\((\\d{4}-[^)]+)\\)").matches(in: Self.index).map { $0[1] }
        for link in links where !Self.notes.contains(where: { $0.name == link }) {
            Issue.record("\(Self.folder)/README.md names \(link), which is not there")
        }
    }

    @Test func `every citation of a decision leads to a note that stands`() {
        let names = Set(Self.notes.map(\.name))
        let standing = Set(Self.notes.map(\.number))
        let known = standing.union(Self.folded.map(\.number))
        for (file, text) in Self.texts {
            for name in Self.path.matches(in: text).map({ $0[1] }) where !names.contains(name) {
                Issue.record("\(file): there is no decision note \(name)")
            }
            // A migration keeps its digest, and so its words: there a folded number will do.
            let allowed = file.hasSuffix(".sql") ? known : standing
            for number in Self.cited(in: text) where !allowed.contains(number) {
                Issue.record("\(file): there is no decision \(number)")
            }
        }
        for note in Self.notes {
            for number in note.references where !standing.contains(number) {
                Issue.record("\(note.path): there is no decision \(number)")
            }
        }
    }

    @Test func `every decision note is cited outside the index`() {
        var cited: Set<String> = []
        for (file, text) in Self.texts where !file.hasPrefix(Self.folder + "/") {
            cited.formUnion(Self.cited(in: text))
            cited.formUnion(Self.path.matches(in: text).map { $0[2] })
        }
        var reached = cited
        for note in Self.notes where cited.contains(note.number) {
            reached.formUnion(note.references)
        }
        for note in Self.notes where !reached.contains(note.number) {
            Issue.record(
                "\(note.path): no file names this note: cite it where it matters, or fold it")
        }
    }
}
