import Foundation
import Testing

/// A table of a page in docs/, which tests walk row by row.
enum DocumentTable {
    /// The cells of each row below the head that begins so.
    static func rows(of page: String, under head: String) throws -> [[String]] {
        let text = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../docs/\(page)"), encoding: .utf8)
        let parts = text.components(separatedBy: "\n| \(head) |")
        try #require(parts.count == 2, "docs/\(page) has one table of \(head)")
        return parts[1].components(separatedBy: "\n").dropFirst(2).prefix { $0.hasPrefix("| ") }
            .map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }

    /// Of Swift and of Python.
    static let testNames: Set<String> = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../..").standardized
        guard
            let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        else { return [] }
        var names: Set<String> = []
        for case let file as URL in files where ["swift", "py"].contains(file.pathExtension) {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            names.formUnion(text.matches(of: /func\s+`([^`]+)`/).map { String($0.1) })
            names.formUnion(text.matches(of: /def (test_\w+)\(/).map { String($0.1) })
        }
        return names
    }()
}
