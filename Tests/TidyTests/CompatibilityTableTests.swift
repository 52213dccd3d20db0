import Foundation
import Testing

/// `docs/compatibility.md` says of each requirement of another system's clients which tests show it.
@Suite("The table of requirements")
struct CompatibilityTable {
    private struct Row {
        let line: Int
        let id: String
        let cells: [String]
        let tests: [String]
    }

    private static let path = "docs/compatibility.md"

    private static let rows: [Row] = {
        let id = Pattern("^\\| ((?:COZ|MOD|VOO|COT|EDU)-\\d{2}) \\|")
        let name = Pattern("`([^`]+)`")
        return Repository.text(path).components(separatedBy: "\n").enumerated()
            .compactMap { index, line in
                guard let found = id.matches(in: line).first else { return nil }
                let cells = line.components(separatedBy: " | ")
                let tests = cells.count > 2 ? name.matches(in: cells[2]).map { $0[1] } : []
                return Row(line: index + 1, id: found[1], cells: cells, tests: tests)
            }
    }()

    @Test func `every test that a requirement names exists`() {
        let known = Repository.testNames
        #expect(Self.rows.count > 80)
        for row in Self.rows {
            for test in row.tests where !known.contains(test) {
                Issue.record("\(Self.path):\(row.line): there is no test `\(test)`")
            }
        }
    }

    @Test func `every requirement that is implemented names a test`() {
        for row in Self.rows where !row.id.hasPrefix("COT") && !row.id.hasPrefix("EDU") {
            let isTheApps = row.cells.last?.hasPrefix("the app's part") ?? false
            if row.tests.isEmpty && !isTheApps {
                Issue.record("\(Self.path):\(row.line): \(row.id) names no test")
            }
        }
    }

    @Test func `every requirement id in a test's name is in the table, once`() {
        let id = Pattern("(?:COZ|MOD|VOO|COT|EDU)[-_]\\d{2}")
        let listed = Self.rows.map(\.id)
        #expect(Set(listed).count == listed.count)
        for name in Repository.testNames {
            for found in id.matches(in: name).map({ $0[0].replacing("_", with: "-") })
            where !listed.contains(found) {
                Issue.record("\(Self.path) does not list \(found), which `\(name)` names")
            }
        }
    }
}
