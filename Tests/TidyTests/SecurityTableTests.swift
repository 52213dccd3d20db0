import Foundation
import Testing

/// `docs/security-tests.md` says of each line that testers check which test shows it.
@Suite("The table of security tests")
struct SecurityTable {
    private struct Row {
        let line: Int
        let names: [String]
    }

    /// The second column of each row that is no head.
    private static let rows: [Row] = {
        let name = Pattern("`([^`]+)`")
        return Repository.text("docs/security-tests.md").components(separatedBy: "\n").enumerated()
            .compactMap { index, line in
                let cells = line.components(separatedBy: " | ")
                guard line.hasPrefix("| "), cells.count == 3, cells[1] != "test" else { return nil }
                return Row(line: index + 1, names: name.matches(in: cells[1]).map { $0[1] })
            }
    }()

    @Test func `the security table names existing tests`() {
        let known = Repository.testNames
        #expect(Self.rows.count > 80)
        for row in Self.rows {
            for name in row.names where !known.contains(name) {
                Issue.record("docs/security-tests.md:\(row.line): there is no test `\(name)`")
            }
        }
    }

    @Test func `the security table names a test in each line, or says that none is`() {
        let silent = Self.rows.filter(\.names.isEmpty)
        #expect(silent.count == 1, "Only what is not done at all has no test.")
    }

    @Test func `the security table names every test of the conformance suites`() {
        let function = Pattern("func `([^`]+)`")
        let told = Set(Self.rows.flatMap(\.names))
        for file in Repository.swift(in: "Tests/APITests/Conformance") {
            for name in function.matches(in: file.text).map({ $0[1] }) where !told.contains(name) {
                Issue.record("\(file.path):1: `\(name)` is not in docs/security-tests.md")
            }
        }
    }
}
