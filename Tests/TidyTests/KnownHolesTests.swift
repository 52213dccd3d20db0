import Foundation
import Testing

/// `docs/known-holes.md` says of each advisory which test shows that Urd does not have its hole, or why it cannot.
@Suite("The table of known holes")
struct KnownHolesTable {
    private struct Row {
        let line: Int
        let ids: [String]
        let kind: String
        let answer: String
    }

    private static let rows: [Row] =
        Repository.text("docs/known-holes.md").components(separatedBy: "\n").enumerated()
        .compactMap { index, line in
            let cells = line.components(separatedBy: " | ")
            guard line.hasPrefix("| "), cells.count == 5, cells[3] != "class" else { return nil }
            let ids = cells[0].dropFirst(2).components(separatedBy: ", ")
            return Row(line: index + 1, ids: ids, kind: cells[3], answer: cells[4])
        }

    private static let tested: Set<String> = ["tested", "tested, seen to fail", "found here"]

    @Test func `the table of known holes has each advisory once`() {
        let id = Pattern("^(CVE-20\\d\\d-\\d{4,}|GHSA(-[2-9a-z]{4}){3})$")
        var seen: Set<String> = []
        #expect(Self.rows.count > 200)
        for row in Self.rows {
            for each in row.ids where !id.isFound(in: each) || !seen.insert(each).inserted {
                Issue.record("docs/known-holes.md:\(row.line): \(each) is no id, or stands twice")
            }
        }
    }

    @Test func `the table of known holes names a test that exists, or a reason`() {
        let name = Pattern("`([^`]+)`")
        for row in Self.rows {
            let names = name.matches(in: row.answer).map { $0[1] }
            let isKept =
                Self.tested.contains(row.kind)
                ? !names.isEmpty && names.allSatisfy(Repository.testNames.contains)
                : row.kind == "cannot be" && row.answer.count > 10
            if !isKept {
                Issue.record("docs/known-holes.md:\(row.line): there is no such test or class")
            }
        }
    }

    @Test func `the table of known holes has tests for at least six of ten`() {
        let tested = Self.rows.count { Self.tested.contains($0.kind) }
        #expect(tested * 10 >= Self.rows.count * 6, "\(tested) of \(Self.rows.count)")
    }
}
