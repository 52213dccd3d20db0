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
    }

    private static let folder = "docs/decisions"

    private static let notes: [Note] = Repository.files(in: folder, suffix: ".md")
        .map { path, text in
            let name = String(path.dropFirst(folder.count + 1))
            return Note(
                path: path, name: name, number: String(name.prefix(4)),
                lines: text.components(separatedBy: "\n"))
        }
        .filter { $0.name != "README.md" }

    @Test func `decision notes are numbered from 0001 without gaps`() {
        #expect(Self.notes.count > 90)
        for (index, note) in Self.notes.enumerated() {
            let expected = String(String(10_000 + index + 1).dropFirst())
            #expect(note.number == expected, "\(note.path) has to begin with \(expected)")
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
        let index = Repository.text("\(Self.folder)/README.md")
        for note in Self.notes {
            let line = "- [\(note.number)](\(note.name)) \(note.title ?? "")"
            let found = index.components(separatedBy: "\n").filter { $0.hasPrefix(line) }
            #expect(found.count == 1, "\(Self.folder)/README.md has to have the line: \(line)")
        }
        let links = Pattern("\\]\\((\\d{4}-[^)]+)\\)").matches(in: index).map { $0[1] }
        for link in links where !Self.notes.contains(where: { $0.name == link }) {
            Issue.record("\(Self.folder)/README.md names \(link), which is not there")
        }
    }

    @Test func `every reference to a decision note leads to one`() {
        let names = Set(Self.notes.map(\.name))
        let numbers = Set(Self.notes.map(\.number))
        let path = Pattern("decisions/(\\d{4}-[a-z0-9-]+\\.md)")
        let word = Pattern("[Dd]ecision (\\d{4})\\b")
        let texts = Repository.paths.filter { path in
            [".swift", ".md", ".sql", ".py"].contains { path.hasSuffix($0) }
        }
        for file in texts {
            let text = Repository.text(file)
            for name in path.matches(in: text).map({ $0[1] }) where !names.contains(name) {
                Issue.record("\(file): there is no decision note \(name)")
            }
            for number in word.matches(in: text).map({ $0[1] }) where !numbers.contains(number) {
                Issue.record("\(file): there is no decision \(number)")
            }
        }
    }
}
